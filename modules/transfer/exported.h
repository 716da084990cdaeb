/*
 * exported.h - data keys as a text under a secret.
 *
 * The text is for people to carry, under a secret that they choose, or for other nodes of a cluster, under one that is derived.  export.c has its
 * format.
 */
#ifndef TDE_TRANSFER_EXPORTED_H
#define TDE_TRANSFER_EXPORTED_H

#include "keys/table.h"

/* What the text tells of keys. */
typedef enum TdeExportFormat
{
	TDE_EXPORT_READABLE = 1,	/* those that can be read, to be imported */
	TDE_EXPORT_ADOPTABLE = 2	/* all, destroyed ones too, and which are erasable */
} TdeExportFormat;

/* A key, unwrapped. */
typedef struct TdeExportedKey
{
	TdeDataKey	row;			/* UUID, slot, version, kind, state, time, name and erasable; all else is 0 */
	uint8		data_key[TDE_DATA_KEY_SIZE];	/* zeros if it was destroyed */
} TdeExportedKey;

/* All keys of a text, in its order.  tde_exported_read() cleanses them. */
typedef struct TdeExportedKeys
{
	TdeExportFormat format;
	int			count;
	TdeExportedKey *keys;
} TdeExportedKeys;

/* Returns all keys of this database as a text, palloc'd.  Throws ERRCODE_TDE_KEY_NOT_FOUND if there are none, and what unwrapping throws. */
extern text *tde_exported_write(TdeExportFormat format, const char *secret);

/*
 * Opens such a text, has the keys used, and forgets them.  Throws ERRCODE_INVALID_PARAMETER_VALUE if it is none, and ERRCODE_TDE_NOT_AUTHENTIC if it
 * was changed or has another secret.
 */
typedef void (*TdeExportedUser) (const TdeExportedKeys *exported, void *arg);
extern void tde_exported_read(const text *exported, const char *secret, TdeExportedUser use, void *arg);

#endif							/* TDE_TRANSFER_EXPORTED_H */
