/*
 * datum_header.c - what the head of an encrypted datum says: the key that it is under, and how it is encrypted.  No key is needed to read it.
 */
#include "postgres.h"

#include "access/detoast.h"

#include "keys/cache.h"
#include "server/compat.h"
#include "server/error.h"
#include "type/datum.h"

bool
tde_datum_header(Datum value, TdeHeader *header)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);
	struct varlena *head = stored;
	bool		good;

	/* a header is not longer than this, and whether the value is long enough for its spec, its size tells */
	if (VARATT_IS_EXTERNAL(stored) || VARATT_IS_COMPRESSED(stored))
		head = detoast_attr_slice(stored, 0, TDE_MAX_HEADER);
	good = tde_header_parse((const uint8 *) VARDATA_ANY(head), toast_raw_datum_size(value) - VARHDRSZ, header);
	if (head != stored)
		pfree(head);
	return good;
}

void
tde_datum_read_header(Datum value, TdeHeader *header)
{
	if (!tde_datum_header(value, header))
		tde_error_throw(TDE_E_AUTH);
}

bool
tde_datum_is_literal(TdeType *type, Datum value)
{
	TdeHeader	header;

	tde_datum_read_header(value, &header);
	return tde_key_for_reading(header.key_id, header.spec, type->tag)->slot == TDE_SLOT_CATALOG;
}
