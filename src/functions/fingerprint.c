/*
 * fingerprint.c - a short value that two databases have in common if, and only if, they have the same keys.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/uuid.h"

#include "keys/table.h"
#include "server/compat.h"

PG_FUNCTION_INFO_V1(tde_key_fingerprint);

#define SHOWN_BYTES	16

static int
by_uuid(const ListCell *a, const ListCell *b)
{
	return memcmp(((const TdeDataKey *) lfirst(a))->uuid, ((const TdeDataKey *) lfirst(b))->uuid, UUID_LEN);
}

/*
 * What keys have in common wherever they are.  Their numbers and what wraps them are this database's own.  The check value stands for
 * the key itself, of which it tells nothing.
 */
static void
append_key(StringInfo bytes, const TdeDataKey *row)
{
	pq_sendbytes(bytes, (void *) row->uuid, UUID_LEN);
	pq_sendint32(bytes, row->slot);
	pq_sendint32(bytes, row->version);
	pq_sendbyte(bytes, row->kind);
	pq_sendbyte(bytes, row->state);
	pq_sendbyte(bytes, row->erasable);
	pq_sendbytes(bytes, (void *) row->kcv, TDE_KCV_SIZE);
	pq_sendbytes(bytes, (void *) row->name, NAMEDATALEN);
}

/* tde_key_fingerprint() returns text - the same in two databases that have the same keys. */
Datum
tde_key_fingerprint(PG_FUNCTION_ARGS)
{
	List	   *rows = tde_keystore_rows();
	StringInfoData bytes;
	ListCell   *cell;
	bytea	   *digest;
	char		shown[2 * SHOWN_BYTES];

	list_sort(rows, by_uuid);
	pq_begintypsend(&bytes);
	foreach(cell, rows)
		append_key(&bytes, lfirst(cell));
	digest = DatumGetByteaPP(DirectFunctionCall1(sha256_bytea, PointerGetDatum(pq_endtypsend(&bytes))));
	hex_encode(VARDATA_ANY(digest), SHOWN_BYTES, shown);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(shown, sizeof(shown)));
}
