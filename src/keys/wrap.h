/*
 * wrap.h - a row of tde.data_keys, and how its key is wrapped together with the row's other fields.
 */
#ifndef TDE_KEYS_WRAP_H
#define TDE_KEYS_WRAP_H

#include "crypto/container.h"
#include "crypto/value.h"

#define TDE_KCV_SIZE		8
#define TDE_MAX_WRAPPED		192 /* room for what wrap.c wraps, with RFC 5649's overhead */

/*
 * A row of tde.data_keys, without pointers, so it can be copied.  All fields but master and check value are wrapped with the key: whoever changes
 * them in the file has a row that cannot be unwrapped.
 */
typedef struct TdeDataKey
{
	uint32		id;				/* what values name */
	int32		slot;			/* which key: TDE_SLOT_DEFAULT and up, or a reserved one */
	int32		version;		/* of the slot's key, from 1 */
	char		kind;			/* what it is for: TDE_KIND_MAC, ... */
	char		state;			/* TDE_STATE_ACTIVE, ... */
	uint8		uuid[16];		/* the same wherever the key is */
	uint8		database[16];	/* identity of the database, in all its rows */
	uint8		master[TDE_MASTER_ID_SIZE]; /* id of the master key that wraps it */
	int64		created;		/* TimestampTz */
	uint8		kcv[TDE_KCV_SIZE];	/* check value, by HKDF of the key */
	uint32		wrapped_size;	/* 0: destroyed or damaged */
	uint8		wrapped[TDE_MAX_WRAPPED];
	bool		erasable;		/* wrapped by a wallet entry of its own; when that is gone, the key is destroyed */
	char		name[NAMEDATALEN];	/* of the slot; empty: it has none */
} TdeDataKey;

/*
 * Unwraps the row's key into data_key, which the caller cleanses, and sees that every field of the row is the one that was wrapped with it.  Throws
 * ERRCODE_TDE_WALLET_CLOSED, ERRCODE_TDE_KEY_NOT_FOUND without the master key, ERRCODE_TDE_NOT_AUTHENTIC if the row was changed.  data_key holds no
 * key then.
 */
extern PGDLLEXPORT void tde_keywrap_unwrap(const TdeDataKey *row, uint8 data_key[TDE_DATA_KEY_SIZE]);

/*
 * Makes a random key for a row whose other fields are set: fills in check value and wrapped, and master unless it names one.  The wallet is open,
 * else this throws ERRCODE_TDE_WALLET_CLOSED.
 */
extern void tde_keywrap_new(TdeDataKey *row);

/* Wraps this key for a row whose other fields are set, in the same way. */
extern void tde_keywrap_wrap(TdeDataKey *row, const uint8 data_key[TDE_DATA_KEY_SIZE]);

/* Throws ERRCODE_TDE_NOT_AUTHENTIC unless this is the row's key, by its check value. */
extern PGDLLEXPORT void tde_keywrap_check(const TdeDataKey *row, const uint8 data_key[TDE_DATA_KEY_SIZE]);

/* Wraps the row's key under that master key.  Returns false if it is so already, or its slot has a wrapping key of its own. */
extern bool tde_keywrap_renew(TdeDataKey *row, const uint8 master[TDE_MASTER_ID_SIZE]);

/* Returns true if the wallet lacks the master key of one that could be read with it.  An erasable one without it was destroyed. */
extern PGDLLEXPORT bool tde_keywrap_lacks_master(const TdeDataKey *row);

/* Wraps the row's key again for another name of its slot.  Throws as unwrapping does; the row is not to be used then. */
extern void tde_keywrap_rename(TdeDataKey *row, const char *name);

/* Wraps the row's key again as that of a version for new values.  Throws the same. */
extern void tde_keywrap_activate(TdeDataKey *row);

/* Throws if the wallet is closed or does not have the row's master key, as unwrapping does. */
extern void tde_keywrap_require_master(const TdeDataKey *row);

/* Writes a big-endian number, as rows and exports have it.  Returns where the next begins. */
static inline uint8 *
tde_keywrap_put(uint8 *to, uint64 number, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		*to++ = (uint8) (number >> (8 * i));
	return to;
}

/* Returns a UUID as text, palloc'd. */
extern PGDLLEXPORT char *tde_keywrap_uuid_text(const uint8 *bytes);

#endif							/* TDE_KEYS_WRAP_H */
