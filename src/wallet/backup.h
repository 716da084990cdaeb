/*
 * backup.h - copies of the wallet: those that the DBA's command takes away, and those that stay beside the file.
 *
 * wallet/file.c calls these in the course of a change: the command for the new file, under its temporary name, then the copies, then the new file
 * gets its name.  The caller is the one process at the file (tde_wallet_at_file()).
 */
#ifndef TDE_WALLET_BACKUP_H
#define TDE_WALLET_BACKUP_H

/* What becomes of a change of the wallet whose backup fails; values of a GUC. */
typedef enum TdeBackupFailure
{
	TDE_BACKUP_ERROR,			/* it is not made */
	TDE_BACKUP_WARNING			/* it is made, with a WARNING */
} TdeBackupFailure;

/* GUCs; the command may be NULL or empty, and without it no backup is made. */
extern char *tde_wallet_backup_command;
extern int	tde_wallet_backup_timeout;	/* in milliseconds */
extern int	tde_wallet_backup_failure;
extern int	tde_wallet_generations; /* copies beside the file, PATH.previous included */

/* Returns true if a command is set. */
extern bool tde_wallet_backup_wanted(void);

/* Sends a WARNING that the change was made without one, if it failed. */
extern void tde_wallet_backup_warn(bool failed);

/*
 * Runs the command for a file with the wallet as it is about to be, which will be called path.  backup: the name that it gets, "" if the command
 * fails.  Returns false if it fails; throws ERRCODE_TDE_WALLET_FAILURE instead if the change is not to be made then.
 */
extern bool tde_wallet_backup_run(const char *file, const char *path, char backup[MAXPGPATH]);

/*
 * Keeps the wallet file, which is about to be replaced, as PATH.previous, that as PATH.previous.2, and so on.  Throws if that cannot be done.  No
 * copy is lost then, however often it is tried.
 */
extern void tde_wallet_keep_generation(const char *path);

/* Removes copies beyond tde_column.wallet_generations, and what crashes have left.  A WARNING tells of each that stays. */
extern void tde_wallet_prune_generations(const char *path);

/*
 * Leaves none of the earlier copies, before the file is replaced with the next one, which PATH.previous becomes a copy of.  So a destroyed key's
 * entry is in no copy.  Throws if one stays.
 */
extern void tde_wallet_drop_generations(const char *path, const char *next);

#endif							/* TDE_WALLET_BACKUP_H */
