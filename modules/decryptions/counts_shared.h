/*
 * counts_shared.h - what all processes have told of values that were decrypted, in shared memory and in a file.
 *
 * Processes add to rows that are there under a shared lock, by atomic additions.  Only a new row, and forgetting, take the lock alone.
 */
#ifndef TDE_DECRYPTIONS_COUNTS_SHARED_H
#define TDE_DECRYPTIONS_COUNTS_SHARED_H

#include "datatype/timestamp.h"

/* tde_column.decryptions_max */
extern int	tde_decryptions_max;

/* What a count is of.  Compared and hashed byte by byte; it has no gaps, and is stored in the file. */
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

/* A row of the view, and of the file. */
typedef struct TdeDecryptionsRow
{
	TdeDecryptionsKey key;
	uint64		values;
} TdeDecryptionsRow;

/* What is told of all rows. */
typedef struct TdeDecryptionsInfo
{
	uint64		others;			/* values for which there was no row left */
	TimestampTz since;			/* when counting began, or all were forgotten */
	TimestampTz written;		/* when the file was; 0: never */
	int64		rows;
} TdeDecryptionsInfo;

/* ---- the table ---- */

/* Returns true if there is shared memory of ours.  Otherwise only tde_decryptions_tell() and tde_decryptions_keep() may be called. */
extern bool tde_decryptions_shared(void);

/* Adds values to a key's row; *place, at first NULL, remembers where the key was counted last. */
typedef struct TdeDecryptionsPlace TdeDecryptionsPlace;
extern void tde_decryptions_tell(const TdeDecryptionsKey *key, TdeDecryptionsPlace **place, uint64 values);

/* Returns all rows, palloc'd; *info says how many. */
extern TdeDecryptionsRow *tde_decryptions_read(TdeDecryptionsInfo *info);

/* Forgets rows of days before this one; all: all of them, and the others as well.  Returns how many rows. */
extern int64 tde_decryptions_forget(int32 before, bool all);

/* Returns when the first change was that is not in the file; 0: there is none. */
extern TimestampTz tde_decryptions_changed(void);

/* ---- for the file ---- */

/* The former returns what is to be written now, palloc'd.  The latter is called if that fails: then it counts as changed again. */
extern TdeDecryptionsRow *tde_decryptions_take(TdeDecryptionsInfo *info, TimestampTz now);
extern void tde_decryptions_put_back(TimestampTz changed);

/* Returns true if nobody wrote the file from time to time.  Then the caller is to, until he says that he does no more. */
extern bool tde_decryptions_become_writer(void);
extern void tde_decryptions_leave_writer(void);

/* What to request of shared memory; making it, with what was in the file (NULL: there is none). */
extern Size tde_decryptions_size(void);
extern void tde_decryptions_startup(const TdeDecryptionsInfo *info, const TdeDecryptionsRow *rows);

#define TDE_DECRYPTIONS_LOCK	"tde_column decryptions"

/* ---- the file ---- */

/* Sees that what was told will be in the file soon: starts a worker, or writes the file if there is none for long.  now: about. */
extern void tde_decryptions_keep(TimestampTz now);

extern void tde_decryptions_init(void); /* when the module is loaded */

#endif							/* TDE_DECRYPTIONS_COUNTS_SHARED_H */
