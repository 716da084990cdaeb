/*
 * datum.h - the one door between plaintext datums and encrypted ones.
 */
#ifndef TDE_TYPE_DATUM_H
#define TDE_TYPE_DATUM_H

#include "server/compat.h"
#include "type/plaintext_cache.h"
#include "type/type.h"

/* Returns true if all bytes of a varlena are here as they are, neither compressed nor out of line.  (What is out of line is "short", too.) */
static inline bool
tde_datum_at_hand(Datum value)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);

	return !VARATT_IS_EXTENDED(stored) || (VARATT_IS_SHORT(stored) && !VARATT_IS_EXTERNAL(stored));
}

/* To be called for each value of a row that is about to be used, which may be one of a scan.  A hint to the processor, nothing else. */
extern void tde_datum_prefetch(const uint8 *bytes);

/*
 * Decrypt a value (toasted or not) into a datum of the base type.  declared: what the column that it comes from declares, as
 * tde_declared() says; a value that does not fit is refused (type/declared.h).  The result is palloc'd if the base type is passed
 * by reference.
 */
extern Datum tde_datum_decrypt(TdeType *type, Datum value, int32 declared);

/* The same, for a value that is not expected to be met again soon: output and send. */
extern PGDLLEXPORT Datum tde_datum_decrypt_once(TdeType *type, Datum value, int32 declared);

/*
 * Returns true if a value would not be refused for what its column declares.  For those who do not decrypt it, as comparisons of bytes.  Throws if
 * the key cannot be looked up.
 */
extern bool tde_datum_fits(TdeType *type, Datum value, int32 declared);

/*
 * The same for a comparison or the like: a short plaintext goes to scratch, without an allocation.  To be followed by
 * tde_datum_unpeek().
 */
#define TDE_SCRATCH_SIZE	112 /* longest value, in bytes as stored */

/* Room for a short plaintext, and what else was allocated; on the stack of who compares.  Not to be copied: the datum points into it. */
typedef struct TdeScratch
{
	union
	{
		struct
		{
			char		pad[MAXIMUM_ALIGNOF - VARHDRSZ];	/* so that what follows the header is aligned */
			char		header[VARHDRSZ + TDE_SCRATCH_SIZE];
		};
		uint64		align;
	};
	void	   *allocated;		/* NULL: nothing */
	size_t		allocated_size; /* of what is in clear there */
} TdeScratch;

extern Datum tde_datum_peek(TdeType *type, Datum value, int32 declared, TdeRemember remember, TdeScratch *scratch);

/* The same for an argument of a function, which may also be of a plain type: then the argument itself, and nothing to be freed. */
static inline Datum
tde_argument_peek(FunctionCallInfo fcinfo, TdeCall *call, int arg, TdeRemember remember, TdeScratch *scratch)
{
	TdeType    *type = call->proc->args[arg];

	scratch->allocated = NULL;
	return type ? tde_datum_peek(type, PG_GETARG_DATUM(arg), call->declared[arg], remember, scratch) : PG_GETARG_DATUM(arg);
}

/*
 * Cleanses and frees what tde_datum_peek() has allocated.  The scratch memory itself is not cleansed here: it is on the stack, which server/remains.c
 * overwrites later.
 */
static inline void
tde_datum_unpeek(TdeScratch *scratch)
{
	if (unlikely(scratch->allocated != NULL))
	{
		explicit_bzero(scratch->allocated, scratch->allocated_size);
		pfree(scratch->allocated);
	}
}

/*
 * Encrypt a datum of the base type under the key and the spec (an unsalted one) of a value that has this header and so many bytes: what is
 * equal then has the same bytes, as far as the base type stores it in the same way, and it is not padded otherwise.  palloc'd.
 */
extern struct varlena *tde_datum_seal_like(TdeType *type, Datum value, const TdeHeader *header, size_t size);

/*
 * Encrypt a datum of the base type as the typmod says; -1: as a literal, deterministically, under the catalog key.
 */
extern PGDLLEXPORT Datum tde_datum_encrypt(TdeType *type, Datum value, int32 typmod);

/* The same under a version of that key which values have, by its number; under the newest if key_id is 0, or that version may encrypt no more. */
extern Datum tde_datum_encrypt_under(TdeType *type, Datum value, int32 typmod, uint32 key_id);

/* The same for what is stored in no column, but may get into temporary files: under the catalog's key, salted. */
extern Datum tde_datum_encrypt_passing(TdeType *type, Datum value);

/*
 * A value once more, as nobody can tell that it is the same one: with a salt, under the newest version of its own key, and not by triple DES if it has a
 * MAC.
 */
extern Datum tde_datum_encrypt_apart(TdeType *type, Datum value);

/* The same of another plaintext, which is kept for a value. */
extern Datum tde_datum_encrypt_beside(TdeType *type, Datum plain, Datum value);

/*
 * The same for what a cast makes.  What the statement does not store is encrypted by AES-GCM if the typmod says triple DES, under the same
 * key.
 */
extern Datum tde_datum_encrypt_given(TdeType *type, Datum value, int32 typmod);

/*
 * Bytes from (inclusive) to to (exclusive) of the plaintext of a varlena type, at most; *first is set to where the result
 * begins, which may be before from.  Of a large value without MAC in CTR mode that is stored out of line only those bytes
 * are read and decrypted (selective decryption, Canim and Kantarcioglu, algorithm 3); of others, all.
 */
extern struct varlena *tde_datum_decrypt_slice(TdeType *type, Datum value, int32 declared, uint64 from, uint64 to, uint64 *first);

/* Cleanses and frees a decrypted datum that is no longer needed.  Nothing to do for a type that is passed by value. */
extern PGDLLEXPORT void tde_datum_free(TdeType *type, Datum value);

/*
 * Make a value fit a column: itself if it is encrypted just as the typmod says and the base type's modifiers change nothing,
 * else encrypted anew.  declared: where it comes from, as above.
 */
extern Datum tde_datum_coerce(TdeType *type, Datum value, int32 typmod, int32 declared, bool is_explicit);

/*
 * tde_datum_is_current() returns true if a value can be stored as it is, encrypted just as a new one would be: as the typmod says, under the newest
 * version of the key.  typmod -1, of a place that declares nothing: in its own way, under the newest version of its own key.  Looks at the header
 * alone, of a value out of line, too.
 *
 * A version may reach its limit, and be replaced, while much is re-encrypted.  So a version counts as the newest that was so when a key's
 * values were first asked about with these floors, or is newer than that.
 */
typedef struct TdeKeyFloors
{
	MemoryContext context;
	List	   *list;			/* NIL at first */
} TdeKeyFloors;

extern PGDLLEXPORT bool tde_datum_is_current(TdeType *type, Datum value, int32 typmod, TdeKeyFloors *floors);

/* Returns true if a value is encrypted as the typmod says, but for the key.  By its header and its size alone, too. */
extern PGDLLEXPORT bool tde_datum_is_declared(TdeType *type, Datum value, int32 typmod);

/* Make it so.  declared: where it comes from, as above; -1 takes a value that does not fit, too. */
extern PGDLLEXPORT Datum tde_datum_reencrypt(TdeType *type, Datum value, int32 typmod, int32 declared);

/* Returns true if this is a constant of SQL, encrypted under the catalog's key, and not a column's value.  Throws if the wallet is closed. */
extern bool tde_datum_is_literal(TdeType *type, Datum value);

/* Sets *header to that of a value, in line or not.  Returns false if its bytes begin with none.  Needs no key. */
extern PGDLLEXPORT bool tde_datum_header(Datum value, TdeHeader *header);

/* The same; throws ERRCODE_TDE_NOT_AUTHENTIC if they do not. */
extern void tde_datum_read_header(Datum value, TdeHeader *header);

#endif							/* TDE_TYPE_DATUM_H */
