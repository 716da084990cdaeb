/*
 * wrap.h - a row of tde.data_keys, and how its key is wrapped together with the row's other fields.
 */
#ifndef TDE_KEYS_WRAP_H
#define TDE_KEYS_WRAP_H

#include "crypto/container.h"
#include "crypto/value.h"

#define TDE_KCV_SIZE		8
#define TDE_MAX_WRAPPED		192

/* A row of tde.data_keys. */
typedef struct TdeDataKey
{
	uint32		id;				/* what values name */
	int32		slot;
	int32		version;		/* of the slot's key, from 1 */
	char		kind;
	char		state;
	uint8		uuid[16];
	uint8		database[16];
	uint8		master[TDE_MASTER_ID_SIZE];
	int64		created;		/* TimestampTz */
	uint8		kcv[TDE_KCV_SIZE];
	uint32		wrapped_size;
	uint8		wrapped[TDE_MAX_WRAPPED];
	bool		erasable;		/* wrapped by a wallet entry of its own; when that is gone, the key is destroyed */
	char		name[NAMEDATALEN];	/* of the slot; empty: it has none */
} TdeDataKey;

/*
 * Unwrap, and see that every field of the row is the one that was wrapped with the key.  ereport if the wallet is closed
 * or lacks the master key.  The caller cleanses data_key.
 */
extern PGDLLEXPORT void tde_keywrap_unwrap(const TdeDataKey *row, uint8 data_key[TDE_DATA_KEY_SIZE]);

/*
 * A new random key for a row whose other fields are set: fills in check value and wrapped, and master unless it names one.
 * The wallet is open.
 */
extern void tde_keywrap_new(TdeDataKey *row);

/* Wrap this key for a row whose other fields are set, in the same way. */
extern void tde_keywrap_wrap(TdeDataKey *row, const uint8 data_key[TDE_DATA_KEY_SIZE]);

/* ereport unless this is the row's key, by its check value. */
extern PGDLLEXPORT void tde_keywrap_check(const TdeDataKey *row, const uint8 data_key[TDE_DATA_KEY_SIZE]);

/* Wrap the row's key under that master key; false if it is so already, or its slot has a wrapping key of its own. */
extern bool tde_keywrap_renew(TdeDataKey *row, const uint8 master[TDE_MASTER_ID_SIZE]);

/* Does the wallet lack the master key of one that could be read with it?  An erasable one without it was destroyed. */
extern PGDLLEXPORT bool tde_keywrap_lacks_master(const TdeDataKey *row);

/* Wrap the row's key again for another name of its slot. */
extern void tde_keywrap_rename(TdeDataKey *row, const char *name);

/* Wrap the row's key again as that of a version for new values. */
extern void tde_keywrap_activate(TdeDataKey *row);

/* ereport if the wallet is closed or does not have the row's master key. */
extern void tde_keywrap_require_master(const TdeDataKey *row);

/* A big-endian number, as rows and exports have it; returns where the next begins. */
static inline uint8 *
tde_keywrap_put(uint8 *to, uint64 number, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		*to++ = (uint8) (number >> (8 * i));
	return to;
}

/* A UUID as text, palloc'd. */
extern PGDLLEXPORT char *tde_keywrap_uuid_text(const uint8 *bytes);

#endif							/* TDE_KEYS_WRAP_H */
