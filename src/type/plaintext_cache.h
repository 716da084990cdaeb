/*
 * plaintext_cache.h - the plaintexts of the values that this backend decrypted last.
 *
 * A value is known by its type and its bytes, which nobody can change without another result.  So a row is not needed to know that a value is the
 * same one.  In type/datum.c decrypt_datum() asks, and decrypt_bytes() tells; all is cleansed when keys are forgotten (tde_forget_decrypted in
 * keys/cache.h).
 */
#ifndef TDE_TYPE_PLAINTEXT_CACHE_H
#define TDE_TYPE_PLAINTEXT_CACHE_H

/*
 * How a short plaintext is remembered, so that the value met again costs a comparison.  What is remembered pushes out what came first among those
 * few whose last bytes are alike.  Values of rows have places of their own, few, for as long as a row is at hand.  (In one run of
 * bench/queries.sh GROUP BY takes 6 % less time than with places for all, sums over several columns 8 %.  Places apart for those that are
 * sure to come again, or were met once, saved nothing.)
 */
typedef enum TdeRemember
{
	TDE_REMEMBER_NOT,			/* not expected to be met again soon */
	TDE_REMEMBER_ROW,			/* while the row is at hand, as long as such values are found again */
	TDE_REMEMBER_LONG,			/* what others are compared with: representatives of groups; if it is met again */
	TDE_REMEMBER_SEARCH,		/* the same at once, in a search or a sort, which goes to and fro */
	TDE_REMEMBER_PAGE,			/* a value of an index page, met in a search */
	TDE_REMEMBER_STATE			/* of two operands: an aggregate's state, and a row's value, which may be the next one */
} TdeRemember;

#define TDE_CACHED_VALUE	94	/* longest value, in bytes as stored */
#define TDE_CACHED_PLAIN	56	/* longest plaintext */

/* What is remembered of one value.  All of it is in clear, so it is on pages for secrets. */
typedef struct TdeCachedPlain
{
	uint32		epoch;			/* the lower half will do: entries do not live through 2^32 changes of keys */
	Oid			type;
	uint8		size;			/* 0: empty */
	uint8		plain_size;
	uint8		value[TDE_CACHED_VALUE];
	uint8		plain[TDE_CACHED_PLAIN];
} TdeCachedPlain;

/* Returns the plaintext of a value; NULL if it is not known.  Good until the next call of a function here.  Arguments as below. */
extern const TdeCachedPlain *tde_plaintext_find(Oid type, uint64 epoch, const uint8 *value, size_t size);

/*
 * Returns true if a value of a row would not be remembered now.  Then looking for one that is decrypted as fast as it is found does not pay.
 * To be asked once for each use of a value.
 */
extern bool tde_plaintext_passes_over(void);

/*
 * Returns true if the value has been asked about before, not long ago.  Searches in an index meet the same few values of its upper pages,
 * and in between ever new ones of its leaves, which would push those out.
 */
extern bool tde_plaintext_is_met_again(const uint8 *value, size_t size);

/*
 * Remember the plaintext of a value, authenticated or verified, among its like (not TDE_REMEMBER_NOT); does nothing with longer ones.  type is
 * the OID of the encrypted type, epoch the key cache's.
 */
extern void tde_plaintext_remember(TdeRemember remember, Oid type, uint64 epoch, const uint8 *value, size_t size, const uint8 *plain,
								   size_t plain_size);

#endif							/* TDE_TYPE_PLAINTEXT_CACHE_H */
