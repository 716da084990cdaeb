/*
 * tde_recent.h - the values decrypted last, by this backend: so that a value met again costs a comparison.
 *
 * layer: 2
 *
 * One literal is decrypted by the coercion that follows its input; one row's column is used several times in a query; the
 * upper pages of an index and the representatives of groups are met again and again.  Found by all of a value's bytes,
 * never by its address.  Only authenticated, short values; a fixed number of them; cleansed when the wallet closes.
 */
#ifndef TDE_RECENT_H
#define TDE_RECENT_H

#define TDE_RECENT_VALUE	96	/* longest value, in bytes as stored */
#define TDE_RECENT_PLAIN	56	/* longest plaintext */

/* Where to remember: values that one row after the other brings must not push out those that rows are compared with. */
typedef enum TdeRemember
{
	TDE_REMEMBER_NOT,			/* not expected to be met again soon */
	TDE_REMEMBER_ROW,			/* while the row is at hand */
	TDE_REMEMBER_LONG,			/* the same, and for long if it is met again: upper index pages, representatives of groups */
	TDE_REMEMBER_SURELY			/* for long: literals */
} TdeRemember;

/*
 * Copy the plaintext of a value to plain, which has room for TDE_RECENT_PLAIN bytes; false if it is not known.  type is the
 * OID of the encrypted type, epoch the key cache's.
 */
extern bool tde_recent_find(Oid type, uint64 epoch, const uint8 *value, size_t size, uint8 *plain, size_t *plain_size);

/* Remember an authenticated value; does nothing with longer ones. */
extern void tde_recent_put(TdeRemember where, Oid type, uint64 epoch, const uint8 *value, size_t size,
						   const uint8 *plain, size_t plain_size);

/* Cleanse them all. */
extern void tde_recent_forget(void);

#endif							/* TDE_RECENT_H */
