/*
 * datum.c - the one door between plaintext datums and encrypted ones: decryption.
 *
 * Encryption: datum_encrypt.c; the values that were decrypted last: plaintext_cache.c.
 *
 * Whoever decrypts comes through here, in this order:
 *
 *	1. the datum's bytes are fetched, of a value out of line from TOAST, which may accept invalidations: so before the key is looked up
 *	2. the header names a key (keys/cache.c): the wallet may be closed, the key unknown, or of a kind that does not allow such a value
 *	3. the value must fit what the column declares, where the caller knows that (type/declared.c): a key is a wall
 *	4. the MAC is checked before anything of the plaintext is decompressed or looked at (crypto/value.c)
 *	5. without a MAC, the plaintext is checked for what its type needs (type/plain_bytes.c)
 *
 * Rights are not asked here: who may see values in clear is asked before (type/access.c), since comparisons and indexes need them, too.  Plaintexts
 * are the caller's: he gives them back to tde_datum_free() or tde_datum_unpeek(), which cleanse them; after an error they stay in a memory context
 * that server/remains.c overwrites.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/counters.h"
#include "server/error.h"
#include "server/remains.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/plain_bytes.h"

/* Set a memo to a value's header and its key.  Nothing vouches for the value yet. */
static pg_noinline void
set_reader(TdeReader *reader, TdeType *type, const uint8 *bytes, size_t size, bool tells)
{
	reader->epoch = 0;
	if (!tde_header_parse(bytes, size, &reader->header))
		tde_error_throw(TDE_E_AUTH);
	reader->key = tells ? tde_key_for_reading(reader->header.key_id, reader->header.spec, type->tag)
		: tde_access_key_for_comparing(reader->header.key_id, reader->header.spec, type->tag);
	reader->fits = tde_declaration(reader->key->slot, reader->header.spec);
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
		tde_error_throw(TDE_E_AUTH);
	memcpy(&head, bytes, sizeof(head));
	/* columns under one key differ in any part of the spec byte */
	reader = &type->readers[tde_key_memo((uint32) bytes[0] << 16 | bytes[1])];
	if (unlikely((head & reader->mask) != reader->head || !tde_keys_fresh(reader->epoch)))
		set_reader(reader, type, bytes, size, tells);
	return reader;
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
	char	   *buffer = scratch ? scratch->header : palloc(VARHDRSZ + TDE_CACHED_PLAIN);
	bool		in_buffer;
	Datum		result;

	memcpy(VARDATA(buffer), recent->plain, TDE_CACHED_PLAIN);	/* all of it: a few moves */
	result = tde_plain_bytes_datum(type, buffer, recent->plain_size, false, true, &in_buffer);
	if (scratch == NULL && !in_buffer)
		free_plain(buffer, VARHDRSZ + TDE_CACHED_PLAIN);
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

	status = tde_value_open(reader->key->value_key, &reader->header, bytes, size, (uint8 *) VARDATA(buffer), &plain_size);
	tde_stats.decryptions++;
	tde_remains_of(size);
	tde_check(status);
	result = tde_plain_bytes_datum(type, buffer, plain_size, compressed, authenticated, &in_buffer);
	/* not if the keys have been forgotten meanwhile, and with them what was decrypted before */
	if (remember != TDE_REMEMBER_NOT && !compressed && tde_keys_fresh(reader->epoch))
		tde_plaintext_remember(remember, type->oid, reader->epoch, bytes, size, (uint8 *) VARDATA(buffer), plain_size);
	if (!in_buffer && !use_scratch)
		free_plain(buffer, VARHDRSZ + size);
	if (scratch)
		scratch->allocated = NULL;
	if (scratch && !type->base_byval && !(in_buffer && use_scratch))
		hand_over(type, result, scratch);
	return result;
}

bool
tde_datum_fits(TdeType *type, Datum value, int32 declared)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);
	TdeHeader	header;

	if (declared < 0)
		return true;
	if (tde_datum_at_hand(value))
		return tde_fits(reader_of(type, (const uint8 *) VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored), false)->fits, declared);
	/* who reads it will say what is wrong with it */
	return !tde_datum_header(value, &header) ||
		tde_fits(tde_declaration(tde_key_row(header.key_id, header.spec)->slot, header.spec), declared);
}

/*
 * Rows stand in a page from its end to its beginning, so a scan goes through memory backwards, but through each row forwards, from the length
 * of one column to the next: no processor foresees that, and rows of encrypted columns are long.  So when the first value of a row is
 * used, the fourth row from there is fetched, taken to be as far away as this one is from the one before.  (Scans of a table of 16
 * encrypted columns take half the time.)  An address that is none does no harm.
 */
#define LONGEST_ROW		2048
#define CACHE_LINE		64
#define FEW_ROWS		4		/* so many in turn are a scan */

void
tde_datum_prefetch(const uint8 *bytes)
{
	static uintptr_t row = 0;	/* the value of the row at hand that was used first */
	static uintptr_t step = 0;	/* from row to row */
	static int	rows = 0;		/* of this page */
	uintptr_t	here = (uintptr_t) bytes;
	uintptr_t	back = row - here;
	uintptr_t	end;

	if (here - row < LONGEST_ROW)
		return;					/* the same row */
	row = here;
	if (back < LONGEST_ROW)
	{
		step = back;
		rows++;
		end = here - 3 * step;
	}
	else
	{
		bool		scans = rows >= FEW_ROWS;

		rows = 0;
		if (!scans)
			return;
		end = here;				/* the next page */
	}
	for (uintptr_t line = here - 4 * step; line < end; line += CACHE_LINE)
		__builtin_prefetch((const void *) line);
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
	if (remember < TDE_REMEMBER_SEARCH)
		tde_datum_prefetch(bytes);
	tde_log_mark();
	reader = reader_of(type, bytes, size, tells);
	if (unlikely(!tde_fits(reader->fits, declared)))
	{
		tde_declared_refuse(type, reader->fits, declared, tells);
		/* a warning looks up names, by which the key may have gone */
		reader = reader_of(type, bytes, size, tells);
	}
	look = remember != TDE_REMEMBER_NOT;
	if (remember == TDE_REMEMBER_ROW && tde_plaintext_passes_over())
	{
		remember = TDE_REMEMBER_NOT;
		/* an HMAC takes longer than to look */
		look = reader->header.spec.mac == TDE_SHA1 || reader->header.spec.mac == TDE_SHA256;
	}
	if (look)
		recent = tde_plaintext_find(type->oid, reader->epoch, bytes, size);
	if (recent == NULL && (remember == TDE_REMEMBER_PAGE || remember == TDE_REMEMBER_LONG) && !tde_plaintext_is_met_again(bytes, size))
		remember = TDE_REMEMBER_NOT;
	if (recent)
	{
		/* not what rows are compared with */
		tde_stats.reused += remember <= TDE_REMEMBER_ROW;
		result = recent_datum(type, recent, scratch);
	}
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
	/* where it does not fit, the whole value is asked for, and refused */
	if (tde_header_parse((uint8 *) VARDATA(head), *size, header) && tde_sliceable(header) &&
		tde_fits(tde_declaration(tde_key_row(header->key_id, header->spec)->slot, header->spec), declared))
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
		tde_error_throw(TDE_E_AUTH);
	result = palloc(VARHDRSZ + length);
	status = tde_value_open_slice(tde_key_for_reading(header.key_id, header.spec, type->tag)->value_key, &header, (uint8 *) VARDATA(head) + header.size, *first,
								  (uint8 *) VARDATA(ciphertext), length, (uint8 *) VARDATA(result));
	tde_stats.decryptions++;
	tde_remains_of(length);
	tde_check(status);
	pfree(head);
	pfree(ciphertext);
	length = tde_plain_verify_slice(type->base, (uint8 *) VARDATA(result), length, to == size - body);
	SET_VARSIZE(result, VARHDRSZ + length);
	return result;
}

void
tde_datum_free(TdeType *type, Datum value)
{
	if (!type->base_byval)
		free_plain(DatumGetPointer(value), plain_size_of(type, value));
}
