/*
 * exported.h - data keys as a text under a secret.
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

typedef struct TdeExportedKey
{
	TdeDataKey	row;			/* UUID, slot, version, kind, state, time, name and erasable; all else is 0 */
	uint8		data_key[TDE_DATA_KEY_SIZE];	/* zeros if it was destroyed */
} TdeExportedKey;

typedef struct TdeExportedKeys
{
	TdeExportFormat format;
	int			count;
	TdeExportedKey *keys;
} TdeExportedKeys;

/* All keys of this database. */
extern text *tde_exported_write(TdeExportFormat format, const char *secret);

/* Open such a text, have the keys used, and forget them; ereport if it is none, was changed, or has another secret. */
typedef void (*TdeExportedUser) (const TdeExportedKeys *exported, void *arg);
extern void tde_exported_read(const text *exported, const char *secret, TdeExportedUser use, void *arg);

#endif							/* TDE_TRANSFER_EXPORTED_H */
