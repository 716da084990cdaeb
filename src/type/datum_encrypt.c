/*
 * datum_encrypt.c - plaintext datums become encrypted ones; and what of encrypted ones must be encrypted anew.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/counters.h"
#include "server/error.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/plain_bytes.h"

/*
 * How a literal is encrypted that reaches the input function without a typmod: without salt, so that no salt is ever
 * shared between the rows that one parsed statement writes, and under the catalog key, so that the length coercion knows
 * it and always encrypts it anew.  Such values stay in the catalogs, in defaults and views, and a server under FIPS, which refuses
 * AES-GCM-SIV, has to read them, too.
 */
static const TdeSpec literal_spec = {TDE_AES256, TDE_CTR, TDE_SHA256, false};

/* The spec and key slot that a typmod stands for, and the active key there. */
static const TdeKey *
writing_key(TdeType *type, int32 typmod, TdeSpec *spec)
{
	TdeWriter  *writer = &type->writers[tde_key_memo((uint32) typmod)];
	TdeModifiers mods;

	*spec = writer->spec;
	if (likely(writer->typmod == typmod && tde_keys_fresh(writer->epoch)))
		return writer->key;
	writer->epoch = 0;
	if (typmod < 0)
	{
		mods.spec = literal_spec;
		mods.slot = TDE_SLOT_CATALOG;
	}
	else
		mods = tde_type_modifiers(type, typmod);
	writer->key = tde_key_for_writing(mods.slot, mods.spec, type->tag);
	writer->typmod = typmod;
	writer->spec = mods.spec;
	writer->epoch = tde_keys_epoch;
	*spec = mods.spec;
	return writer->key;
}

/* Encrypt a payload, and free it. */
static Datum
seal(TdeType *type, TdeSpec spec, const TdeKey *key, TdePlainBytes *payload, bool is_literal)
{
	size_t		size = tde_sealed_size(spec, key->id, payload->size);
	char	   *result;
	TdeStatus	status;

	tde_log_mark();
	if (unlikely(size > MaxAllocSize - VARHDRSZ))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value is too large to be encrypted"),
				 errdetail("It has %zu bytes; with what encryption adds it would exceed %zu.",
						   payload->size, (size_t) MaxAllocSize)));
	result = palloc(VARHDRSZ + size);
	SET_VARSIZE(result, VARHDRSZ + size);
	status = tde_seal(key->value_key, key->id, payload->compressed, payload->bytes, payload->size,
					  (uint8 *) VARDATA(result));
	tde_stats.encryptions++;
	(*key->encrypted)++;
	tde_check(status);
	/* the length coercion that follows will want the literal's plaintext */
	if (is_literal)
		tde_plaintext_remember(TDE_REMEMBER_LONG, type->oid, tde_keys_epoch, (uint8 *) VARDATA(result), size, payload->bytes, payload->size);
	tde_plain_bytes_free(payload);
	return PointerGetDatum(result);
}

Datum
tde_datum_encrypt(TdeType *type, Datum value, int32 typmod)
{
	TdeSpec		spec;
	const TdeKey *key = writing_key(type, typmod, &spec);
	uint64		epoch = tde_keys_epoch;
	TdePlainBytes payload;
	uint64		blocks;

	tde_plain_bytes_make(type, value, spec, &payload);
	blocks = tde_limited_blocks(spec, payload.size);
	/* reading a large value, and counting, may have made us forget the key */
	while (unlikely(tde_keys_epoch != epoch || !tde_key_use_left(key->use, blocks)))
	{
		if (tde_keys_epoch == epoch)
			tde_limits_reserve(key->use, spec, blocks);
		key = writing_key(type, typmod, &spec);
		epoch = tde_keys_epoch;
	}
	key->use->values--;
	key->use->blocks -= blocks;
	return seal(type, spec, key, &payload, typmod < 0);
}

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

static void
read_header(Datum value, TdeHeader *header)
{
	if (!tde_datum_header(value, header))
		tde_throw(TDE_E_AUTH);
}

/* Is it encrypted just as the modifiers say?  Answers with a closed wallet, too. */
static bool
fits(const TdeHeader *header, const TdeModifiers *mods)
{
	return tde_spec_equal(header->spec, mods->spec) && tde_key_row(header->key_id, header->spec)->slot == mods->slot;
}

/*
 * Where the value comes from, the same key may be declared: then it may be under another one, and gets the right one now.  So
 * ddl/stored_spec.c mends what a function has wrongly said of its values.
 */
Datum
tde_datum_coerce(TdeType *type, Datum value, int32 typmod, int32 declared, bool is_explicit)
{
	TdeModifiers mods;
	TdeHeader	header;
	bool		fitting;
	bool		has_key;
	Datum		plain;
	Datum		coerced;

	/* pg_upgrade's values have been made to fit already, and their keys are not there yet */
	if (typmod < 0 || IsBinaryUpgrade)
		return value;
	mods = tde_type_modifiers(type, typmod);
	read_header(value, &header);
	fitting = fits(&header, &mods);
	has_key = fitting || declared >> 1 == mods.slot;
	if (has_key && unlikely(!tde_fits(tde_declaration(mods.slot, header.spec), declared)))
		tde_declared_refuse(type, tde_declaration(mods.slot, header.spec), declared, true);
	if (fitting && mods.base_typmod < 0)
		return value;

	plain = tde_datum_decrypt(type, value, has_key ? -1 : declared);
	coerced = tde_base_coerce(type, plain, mods.base_typmod, is_explicit);
	if (fitting && datumIsEqual(plain, coerced, type->base_byval, type->base_len))
		return value;
	return tde_datum_encrypt(type, coerced, typmod);
}

/* The key and the spec that a value with this header should have. */
static const TdeKey *
current_key(TdeType *type, const TdeHeader *header, int32 typmod, TdeSpec *spec)
{
	if (typmod >= 0)
		return writing_key(type, typmod, spec);
	*spec = header->spec;
	return tde_key_for_writing(tde_key_row(header->key_id, header->spec)->slot, header->spec, type->tag);
}

bool
tde_datum_is_current(TdeType *type, Datum value, int32 typmod)
{
	TdeHeader	header;
	TdeSpec		spec;
	const TdeKey *key;

	read_header(value, &header);
	key = current_key(type, &header, typmod, &spec);
	return header.key_id == key->id && tde_spec_equal(header.spec, spec);
}

Datum
tde_datum_reencrypt(TdeType *type, Datum value, int32 typmod, int32 declared)
{
	Datum		plain = tde_datum_decrypt_once(type, value, declared);
	TdeHeader	header;
	TdeSpec		spec;
	TdePlainBytes payload;
	Datum		result;

	read_header(value, &header);
	(void) current_key(type, &header, typmod, &spec);
	tde_plain_bytes_make(type, plain, spec, &payload);
	result = seal(type, spec, current_key(type, &header, typmod, &spec), &payload, false);
	tde_datum_free(type, plain);
	return result;
}

bool
tde_datum_is_literal(TdeType *type, Datum value)
{
	TdeHeader	header;

	read_header(value, &header);
	return tde_key_for_reading(header.key_id, header.spec, type->tag)->slot == TDE_SLOT_CATALOG;
}

struct varlena *
tde_datum_seal_like(TdeType *type, Datum value, const TdeHeader *header)
{
	TdePlainBytes payload;

	Assert(!header->spec.salted);
	tde_plain_bytes_make(type, value, header->spec, &payload);
	/* not counted: it is stored nowhere */
	return (struct varlena *) DatumGetPointer(seal(type, header->spec, tde_key_for_comparing(header->key_id, header->spec, type->tag),
												   &payload, false));
}
