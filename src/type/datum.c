/*
 * datum.c - the one door between plaintext datums and encrypted ones.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "keys/plain_cache.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/error.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/datum.h"
#include "type/plain_bytes.h"

/*
 * How a literal is encrypted that reaches the input function without a typmod: without salt, so that no salt is ever
 * shared between the rows that one parsed statement writes, and under the catalog key, so that the length coercion knows
 * it and always encrypts it anew.  Such values stay in the catalogs, in defaults and views, and a server under FIPS, which refuses
 * AES-GCM-SIV, has to read them, too.
 */
static const TdeSpec literal_spec = {TDE_AES256, TDE_CTR, TDE_SHA256, false};

/* Set a memo to a value's header and its key.  Nothing vouches for the value yet. */
static pg_noinline void
set_reader(TdeReader *reader, TdeType *type, const uint8 *bytes, size_t size, bool tells)
{
	reader->epoch = 0;
	if (!tde_header_parse(bytes, size, &reader->header))
		tde_throw(TDE_E_AUTH);
	reader->key = tells ? tde_key_for_reading(reader->header.key_id, reader->header.spec, type->tag)
		: tde_key_for_comparing(reader->header.key_id, reader->header.spec, type->tag);
	reader->mask = 0;
	memset(&reader->mask, 0xff, reader->header.size);
	memcpy(&reader->head, bytes, sizeof(reader->head));
	reader->head &= reader->mask;
	reader->epoch = tde_keys_epoch;
}

/* What the header of a value says, and its key.  tells: errors give the reason. */
static inline const TdeReader *
reader_of(TdeType *type, const uint8 *bytes, size_t size, bool tells)
{
	TdeReader  *reader;
	uint64		head;

	/* no value is so short */
	if (unlikely(size < sizeof(head)))
		tde_throw(TDE_E_AUTH);
	memcpy(&head, bytes, sizeof(head));
	/* columns under one key differ in any part of the spec byte */
	reader = &type->readers[tde_key_memo((uint32) bytes[0] << 16 | bytes[1])];
	if (unlikely((head & reader->mask) != reader->head || !tde_keys_fresh(reader->epoch)))
		set_reader(reader, type, bytes, size, tells);
	return reader;
}

static const TdeKey *
reading_key(TdeType *type, const TdeHeader *header)
{
	return tde_key_for_reading(header->key_id, header->spec, type->tag);
}

/* Bytes of a datum of the base type that is passed by reference. */
static inline size_t
plain_size_of(const TdeType *type, Datum plain)
{
	return type->base_len == -1 ? VARSIZE_ANY(DatumGetPointer(plain)) : type->base_len;
}

/* Memory that holds something in clear. */
static inline void
free_plain(void *memory, size_t size)
{
	explicit_bzero(memory, size);
	pfree(memory);
}

/* The caller of tde_datum_peek() will free this. */
static inline void
hand_over(TdeType *type, Datum plain, TdeScratch *scratch)
{
	scratch->allocated = DatumGetPointer(plain);
	scratch->allocated_size = plain_size_of(type, plain);
}

/* The datum of a value that was decrypted before. */
static pg_attribute_always_inline Datum
recent_datum(TdeType *type, const TdeCachedPlain *recent, TdeScratch *scratch)
{
	char	   *buffer = scratch ? scratch->header : palloc(VARHDRSZ + TDE_PLAIN_CACHE_PLAIN);
	bool		in_buffer;
	Datum		result;

	/* all of it: a few moves */
	memcpy(VARDATA(buffer), recent->plain, TDE_PLAIN_CACHE_PLAIN);
	result = tde_plain_bytes_datum(type, buffer, recent->plain_size, false, true, &in_buffer);
	if (scratch == NULL && !in_buffer)
		free_plain(buffer, VARHDRSZ + TDE_PLAIN_CACHE_PLAIN);
	if (scratch)
		scratch->allocated = NULL;
	if (scratch && !in_buffer && !type->base_byval)
		hand_over(type, result, scratch);
	return result;
}

/* Decrypt the bytes of a value, and remember them. */
static pg_noinline Datum
decrypt_bytes(TdeType *type, const TdeReader *reader, const uint8 *bytes, size_t size, TdeRemember remember,
			  TdeScratch *scratch)
{
	bool		authenticated = reader->header.spec.mac != TDE_NOMAC;
	bool		compressed = reader->header.flag && reader->header.spec.salted;

	/* a value is larger than its plaintext, always */
	bool		use_scratch = scratch != NULL && size <= TDE_SCRATCH_SIZE && !compressed;
	char	   *buffer = use_scratch ? scratch->header : palloc(VARHDRSZ + size);
	TdeStatus	status;
	size_t		plain_size;
	bool		in_buffer;
	Datum		result;

	status = tde_open(reader->key->value_key, &reader->header, bytes, size, (uint8 *) VARDATA(buffer), &plain_size);
	tde_stats.decryptions++;
	tde_check(status);
	result = tde_plain_bytes_datum(type, buffer, plain_size, compressed, authenticated, &in_buffer);
	/* not if the keys have been forgotten meanwhile, and with them what was decrypted before */
	if (remember != TDE_REMEMBER_NOT && !compressed && tde_keys_fresh(reader->epoch))
		tde_plain_cache_put(remember, type->oid, reader->epoch, bytes, size, (uint8 *) VARDATA(buffer), plain_size);
	if (!in_buffer && !use_scratch)
		free_plain(buffer, VARHDRSZ + size);
	if (scratch)
		scratch->allocated = NULL;
	if (scratch && !type->base_byval && !(in_buffer && use_scratch))
		hand_over(type, result, scratch);
	return result;
}

pg_noreturn static void
refuse_without_mac(bool tells)
{
	if (!tells && !tde_may_know_reason())
		tde_throw_alike("value without MAC in a column that is declared with MAC");
	ereport(ERROR,
			(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
			 errmsg("value without MAC in a column that is declared with MAC"),
			 errdetail("Somebody may have put it there to circumvent the MAC."),
			 errhint("Only if you know how it got there, run tde_rekey_table() with repair => true, which gives it a MAC.")));
}

/* scratch may be NULL */
static pg_attribute_always_inline Datum
decrypt_datum(TdeType *type, Datum value, int32 declared, TdeRemember remember, TdeScratch *scratch, bool tells)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);
	const uint8 *bytes;
	size_t		size;
	const TdeReader *reader;
	const TdeCachedPlain *recent = NULL;
	bool		look;
	Datum		result;

	if (unlikely(!tde_datum_at_hand(value)))
		stored = PG_DETOAST_DATUM_PACKED(value);
	bytes = (const uint8 *) VARDATA_ANY(stored);
	size = VARSIZE_ANY_EXHDR(stored);
	tde_log_mark();
	reader = reader_of(type, bytes, size, tells);
	look = remember != TDE_REMEMBER_NOT;
	if (remember == TDE_REMEMBER_ROW && tde_plain_cache_passes_over())
	{
		remember = TDE_REMEMBER_NOT;
		/* a MAC takes longer than to look */
		look = reader->header.spec.mac != TDE_NOMAC;
	}
	if (look)
		recent = tde_plain_cache_find(type->oid, reader->epoch, bytes, size);
	if (unlikely(reader->header.spec.mac == TDE_NOMAC && tde_typmod_declares_mac(declared)))
		refuse_without_mac(tells);
	if (recent)
		result = recent_datum(type, recent, scratch);
	else
		result = decrypt_bytes(type, reader, bytes, size, remember, scratch);
	if (unlikely((Pointer) stored != DatumGetPointer(value)))
		pfree(stored);
	return result;
}

/* The result of what is passed by value needs no room. */
static inline Datum
decrypt_to_keep(TdeType *type, Datum value, int32 declared, TdeRemember remember)
{
	TdeScratch	scratch;

	return decrypt_datum(type, value, declared, remember, type->base_byval ? &scratch : NULL, true);
}

Datum
tde_datum_decrypt(TdeType *type, Datum value, int32 declared)
{
	return decrypt_to_keep(type, value, declared, TDE_REMEMBER_ROW);
}

Datum
tde_datum_decrypt_once(TdeType *type, Datum value, int32 declared)
{
	return decrypt_to_keep(type, value, declared, TDE_REMEMBER_NOT);
}

Datum
tde_datum_peek(TdeType *type, Datum value, int32 declared, TdeRemember remember, TdeScratch *scratch)
{
	/* what is met once is output or sorted, which may give reasons */
	return decrypt_datum(type, value, declared, remember, scratch, remember == TDE_REMEMBER_NOT);
}

/* The head of a value out of line, if it can be read in slices; *size: the bytes of the whole. */
static struct varlena *
sliceable_head(Datum value, int32 declared, TdeHeader *header, size_t *size)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);
	struct varatt_external pointer;
	struct varlena *head;

	if (!VARATT_IS_EXTERNAL_ONDISK(stored))
		return NULL;
	VARATT_EXTERNAL_GET_POINTER(pointer, stored);
	if (VARATT_EXTERNAL_IS_COMPRESSED(pointer))
		return NULL;
	*size = pointer.va_rawsize - VARHDRSZ;
	head = detoast_attr_slice(stored, 0, TDE_MAX_HEADER + TDE_CTR_SALT);
	if (tde_header_parse((uint8 *) VARDATA(head), *size, header) && tde_sliceable(header) &&
		!tde_typmod_declares_mac(declared))
		return head;
	pfree(head);
	return NULL;
}

struct varlena *
tde_datum_decrypt_slice(TdeType *type, Datum value, int32 declared, uint64 from, uint64 to, uint64 *first)
{
	TdeHeader	header;
	size_t		size;
	struct varlena *head = sliceable_head(value, declared, &header, &size);
	struct varlena *ciphertext;
	struct varlena *result;
	size_t		body;
	size_t		length;
	TdeStatus	status;

	*first = 0;
	if (head == NULL)
		return PG_DETOAST_DATUM_PACKED(tde_datum_decrypt(type, value, declared));
	tde_log_mark();
	body = header.size + TDE_CTR_SALT;
	to = Min(to, size - body);
	*first = Min(from, to) & ~(uint64) 15;
	length = to - *first;
	ciphertext = detoast_attr_slice((struct varlena *) DatumGetPointer(value), body + *first, length);
	if (VARSIZE(ciphertext) - VARHDRSZ != length)
		tde_throw(TDE_E_AUTH);
	result = palloc(VARHDRSZ + length);
	status = tde_open_slice(reading_key(type, &header)->value_key, &header, (uint8 *) VARDATA(head) + header.size, *first,
							(uint8 *) VARDATA(ciphertext), length, (uint8 *) VARDATA(result));
	tde_stats.decryptions++;
	tde_check(status);
	pfree(head);
	pfree(ciphertext);
	length = tde_verify_slice(type->base, (uint8 *) VARDATA(result), length, to == size - body);
	SET_VARSIZE(result, VARHDRSZ + length);
	return result;
}

void
tde_datum_free(TdeType *type, Datum value)
{
	if (!type->base_byval)
		free_plain(DatumGetPointer(value), plain_size_of(type, value));
}

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
		tde_plain_cache_put(TDE_REMEMBER_LONG, type->oid, tde_keys_epoch, (uint8 *) VARDATA(result), size, payload->bytes, payload->size);
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

/* Is it encrypted just as the typmod says?  Answers with a closed wallet, too. */
static bool
fits(Datum value, const TdeModifiers *mods)
{
	TdeHeader	header;

	read_header(value, &header);
	return tde_spec_equal(header.spec, mods->spec) && tde_key_row(header.key_id, header.spec)->slot == mods->slot;
}

Datum
tde_datum_coerce(TdeType *type, Datum value, int32 typmod, int32 declared, bool is_explicit)
{
	TdeModifiers mods;
	bool		fitting;
	Datum		plain;
	Datum		coerced;

	/* pg_upgrade's values have been made to fit already, and their keys are not there yet */
	if (typmod < 0 || IsBinaryUpgrade)
		return value;
	mods = tde_type_modifiers(type, typmod);
	fitting = fits(value, &mods);
	if (fitting && mods.base_typmod < 0)
		return value;

	plain = tde_datum_decrypt(type, value, declared);
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
	return reading_key(type, &header)->slot == TDE_SLOT_CATALOG;
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
