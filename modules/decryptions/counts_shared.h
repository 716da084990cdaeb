/*
 * counts_shared.h - what all processes have told of values that were decrypted, in shared memory and in a file.
 */
#ifndef TDE_DECRYPTIONS_COUNTS_SHARED_H
#define TDE_DECRYPTIONS_COUNTS_SHARED_H

#include "datatype/timestamp.h"

/* tde_column.decryptions_max */
extern int	tde_decryptions_max;

typedef struct TdeDecryptionsKey
{
	Oid			database;
	Oid			session_role;
	Oid			role;
	Oid			relation;
	int32		day;			/* a date, in UTC */
	int16		column;
	int16		purpose;		/* TdeDecryptedFor */
} TdeDecryptionsKey;

typedef struct TdeDecryptionsRow
{
	TdeDecryptionsKey key;
	uint64		values;
} TdeDecryptionsRow;

typedef struct TdeDecryptionsInfo
{
	uint64		others;			/* values for which there was no row left */
	TimestampTz since;			/* when counting began, or all were forgotten */
	TimestampTz written;		/* when the file was; 0: never */
	int64		rows;
} TdeDecryptionsInfo;

/* ---- the table ---- */

/* Is there shared memory of ours? */
extern bool tde_decryptions_shared(void);

/* *place, at first NULL, remembers where the key was counted last. */
typedef struct TdeDecryptionsPlace TdeDecryptionsPlace;
extern void tde_decryptions_tell(const TdeDecryptionsKey *key, TdeDecryptionsPlace **place, uint64 values);

/* All rows, palloc'd; *info says how many. */
extern TdeDecryptionsRow *tde_decryptions_read(TdeDecryptionsInfo *info);

/* Forget those of days before this one; all: and the others as well.  Returns how many rows. */
extern int64 tde_decryptions_forget(int32 before, bool all);

/* When the first change was that is not in the file; 0: there is none. */
extern TimestampTz tde_decryptions_changed(void);

/* ---- for the file ---- */

/* What is there now is being written, and has been. */
extern TdeDecryptionsRow *tde_decryptions_take(TdeDecryptionsInfo *info, TimestampTz now);
extern void tde_decryptions_put_back(TimestampTz changed);

/* Is somebody there who writes the file from time to time?  If not, the caller is to be, until he says that he is no more. */
extern bool tde_decryptions_become_writer(void);
extern void tde_decryptions_leave_writer(void);

extern Size tde_decryptions_size(void);
extern void tde_decryptions_startup(const TdeDecryptionsInfo *info, const TdeDecryptionsRow *rows);

#define TDE_DECRYPTIONS_LOCK	"tde_column decryptions"

/* ---- the file ---- */

/* What was told will be in the file soon.  now: about. */
extern void tde_decryptions_keep(TimestampTz now);

extern void tde_decryptions_init(void);

#endif							/* TDE_DECRYPTIONS_COUNTS_SHARED_H */
