/*
 * plain_cache.h - the values decrypted last, by this backend: so that a value met again costs a comparison.
 *
 * One literal is decrypted by the coercion that follows its input; one row's column is used several times in a query; the
 * upper pages of an index and the representatives of groups are met again and again.  Found by all of a value's bytes,
 * never by its address.  Only short values that were authenticated, or else verified; a fixed number of them, on pages of
 * their own; cleansed as server/memory.h says.
 */
#ifndef TDE_KEYS_PLAIN_CACHE_H
#define TDE_KEYS_PLAIN_CACHE_H

#define TDE_PLAIN_CACHE_VALUE	94	/* longest value, in bytes as stored */
#define TDE_PLAIN_CACHE_PLAIN	56	/* longest plaintext */

/*
 * What is remembered pushes out what came first among those few whose last bytes are alike.  Values of rows have places of their own, few, for
 * as long as a row is at hand.  (In one run of bench/queries.sh GROUP BY takes 6 % less time than with places for all, sums over several
 * columns 8 %.  Places apart for those that are sure to come again, or were met once, saved nothing.)
 */
typedef enum TdeRemember
{
	TDE_REMEMBER_NOT,			/* not expected to be met again soon */
	TDE_REMEMBER_ROW,			/* while the row is at hand, as long as such values are found again */
	TDE_REMEMBER_LONG			/* what others are compared with: representatives of groups, upper index pages */
} TdeRemember;

typedef struct TdeCachedPlain
{
	uint32		epoch;			/* the lower half will do: entries do not live through 2^32 changes of keys */
	Oid			type;
	uint8		size;			/* 0: empty */
	uint8		plain_size;
	uint8		value[TDE_PLAIN_CACHE_VALUE];
	uint8		plain[TDE_PLAIN_CACHE_PLAIN];
} TdeCachedPlain;

/*
 * The plaintext of a value; NULL if it is not known.  Good until the next call of a function here.  type is the OID of the
 * encrypted type, epoch the key cache's.
 */
extern const TdeCachedPlain *tde_plain_cache_find(Oid type, uint64 epoch, const uint8 *value, size_t size);

/*
 * Most queries use a row's value once, and then remembering it is work for nothing.  So each one that is found again pays for
 * so many to be remembered; without credit, only a few in a row of many are tried.
 */
#define TDE_PLAIN_CACHE_TRIED	64
#define TDE_PLAIN_CACHE_UNTRIED	960
extern int	tde_plain_cache_credit;
extern uint32 tde_plain_cache_uses;

/*
 * Would a value of a row not be remembered now?  Then looking for one that is decrypted as fast as it is found does not pay.
 * To be asked once for each use of a value.
 */
static inline bool
tde_plain_cache_passes_over(void)
{
	return tde_plain_cache_credit <= 0 &&
		tde_plain_cache_uses++ % (TDE_PLAIN_CACHE_TRIED + TDE_PLAIN_CACHE_UNTRIED) >= TDE_PLAIN_CACHE_TRIED;
}

/* Remember a value, authenticated or verified, among its like (not TDE_REMEMBER_NOT); does nothing with longer ones. */
extern void tde_plain_cache_put(TdeRemember remember, Oid type, uint64 epoch, const uint8 *value, size_t size, const uint8 *plain,
								size_t plain_size);

/* Cleanse them all. */
extern void tde_plain_cache_forget(void);

#endif							/* TDE_KEYS_PLAIN_CACHE_H */
