/*
 * backup.h - copies of the wallet: those that the DBA's command takes away, and those that stay beside the file.
 */
#ifndef TDE_WALLET_BACKUP_H
#define TDE_WALLET_BACKUP_H

/* What becomes of a change of the wallet whose backup fails. */
typedef enum TdeBackupFailure
{
	TDE_BACKUP_ERROR,			/* it is not made */
	TDE_BACKUP_WARNING			/* it is made, with a WARNING */
} TdeBackupFailure;

/* GUCs */
extern char *tde_wallet_backup_command;
extern int	tde_wallet_backup_timeout;	/* in milliseconds */
extern int	tde_wallet_backup_failure;
extern int	tde_wallet_generations;

/* Is a command set? */
extern bool tde_wallet_backup_wanted(void);

/* WARNING that the change was made without one. */
extern void tde_wallet_backup_warn(bool failed);

/*
 * Run the command for a file with the wallet as it is about to be, which will be called path.  False if that failed; ereport instead if
 * the change is not to be made then.  backup: its name, from when the command starts, if it does not fail.
 */
extern bool tde_wallet_backup_run(const char *file, const char *path, char backup[MAXPGPATH]);

/*
 * Keep the wallet file, which is about to be replaced, as PATH.previous, that as PATH.previous.2, and so on.  ereport if that cannot be
 * done; no copy is lost then, however often it is tried.
 */
extern void tde_wallet_keep_generation(const char *path);

/* Remove those beyond tde_column.wallet_generations, and what crashes have left; WARNING for each that stays. */
extern void tde_wallet_prune_generations(const char *path);

/*
 * None of the earlier copies is to be left, before the file is replaced with the next one, which PATH.previous becomes a copy of.  ereport
 * if one stays.
 */
extern void tde_wallet_drop_generations(const char *path, const char *next);

#endif							/* TDE_WALLET_BACKUP_H */
