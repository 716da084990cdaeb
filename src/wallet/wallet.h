/*
 * wallet.h - is the wallet open, and what are its master keys: the state that all processes of the instance share.
 *
 * Preloaded, the state is in main shared memory (never DSM, which can be a file) and one opening serves every process.
 * Otherwise each backend has its own and opens it by tde_column.passphrase_command.
 */
#ifndef TDE_WALLET_WALLET_H
#define TDE_WALLET_WALLET_H

#include "datatype/timestamp.h"
#include "port/atomics.h"

#include "server/compat.h"
#include "wallet/file.h"

/* GUCs */
extern char *tde_wallet_file;
extern char *tde_passphrase_command;
extern int	tde_passphrase_timeout;

/* Changes with every opening and closing; a cache of keys is good as long as it does not. */
extern PGDLLEXPORT pg_atomic_uint64 *tde_wallet_generation;

typedef enum TdeWalletStatus
{
	TDE_WALLET_CLOSED,
	TDE_WALLET_OPEN
} TdeWalletStatus;

/* What the view tde.wallet shows. */
typedef struct TdeWalletInfo
{
	TdeWalletStatus status;
	bool		instance_wide;
	bool		closed_by_user;
	TimestampTz opened_at;
	int			master_keys;
	uint8		current_master[TDE_MASTER_ID_SIZE];
	bool		prepared;		/* a master key waits for the next rotation */
	TdeServer	owner;			/* who may change it */
} TdeWalletInfo;

extern void tde_wallet_init(void);	/* from _PG_init */
extern PGDLLEXPORT TdeWalletInfo tde_wallet_info(void);

/*
 * Open the wallet through tde_column.passphrase_command if it is closed and that may be done.  Waits for another process
 * that is doing so.  False if the wallet is closed afterwards; the reason is in the server log.
 */
extern PGDLLEXPORT bool tde_wallet_ensure_open(void);

/* Is tde_column.passphrase_command set? */
extern bool tde_wallet_has_command(void);

/* The passphrase that tde_column.passphrase_command prints; false if there is no command.  ereport if it fails. */
extern bool tde_wallet_ask_command(char passphrase[TDE_MAX_PASSPHRASE]);

/* ereport that the wallet is closed; what says for what it was needed ("to decrypt a value", ...). */
pg_noreturn extern PGDLLEXPORT void tde_wallet_closed_error(const char *what);

/*
 * Copy a master key out; id NULL: the current one.  False if the wallet is closed or has no such key.  The caller cleanses
 * the copy.
 */
extern bool tde_wallet_find_master(const uint8 *id, TdeMasterKey *found);

/* All master keys, without their bytes, into a list with room for TDE_MAX_MASTER_KEYS.  False if the wallet is closed. */
extern bool tde_wallet_list_masters(TdeMasterKey *list, int *count);

/* The digest of the file that the wallet was opened from, or that was written last.  False if it is closed. */
extern bool tde_wallet_digest(uint8 digest[TDE_WALLET_DIGEST_SIZE]);

/* Was the library in shared_preload_libraries? */
extern bool tde_wallet_is_shared(void);

/*
 * Open with this passphrase, or with what the command prints, replacing what is open.  ereport on every failure, and if master keys
 * that are open would be lost, since the file lacks them, unless confirm (may be NULL) names that loss.
 */
extern PGDLLEXPORT void tde_wallet_open_with(const char *passphrase, const char *confirm);
extern void tde_wallet_open_by_command(const char *confirm);
extern void tde_wallet_refuse_existing(void);
extern void tde_wallet_refuse_open(void);
extern void tde_wallet_close_now(void);

/*
 * Write the open wallet to a new file, under its passphrase; path NULL: to tde_column.wallet_file, which the wallet is opened from
 * then.  Returns where it is.  ereport if there is such a file.
 */
extern const char *tde_wallet_save_to(const char *path);

/*
 * Change what the open wallet holds, in the file and then in memory: edit() gets a copy of the contents and may change keys
 * and passphrase, or ereport.  One process at a time.  ereport if the wallet is closed or another server's, its file was replaced meanwhile or
 * cannot be written; nothing has changed then.
 */
typedef void (*TdeWalletEdit) (TdeWalletContents *contents, void *arg);
extern PGDLLEXPORT void tde_wallet_edit(TdeWalletEdit edit, void *arg);

/* From now on this server may change the wallet, and no other one. */
extern void tde_wallet_take_over_now(void);

/* Where a new passphrase comes from. */
typedef enum TdePassphraseSource
{
	TDE_PASSPHRASE_GIVEN,		/* as an argument */
	TDE_PASSPHRASE_PRINTED,		/* by the passphrase command */
	TDE_PASSPHRASE_GENERATED,	/* at random; the statement returns it */
	TDE_PASSPHRASE_SHARED		/* nobody will know it but by shares */
} TdePassphraseSource;

/* ereport if it is too weak, or the passphrase command, if there is one, would not open the wallet under it at the next start. */
extern void tde_wallet_check_new_passphrase(const char *passphrase, TdePassphraseSource source);

/* NOTICE that copies of the wallet are under the passphrase that was changed. */
extern PGDLLEXPORT void tde_wallet_note_copies(void);

/* Hand the wallet to the backup command; ereport if there is none. */
extern void tde_wallet_back_up(void);

/*
 * Make a new wallet file and open it.  Encrypt the wallet under a new passphrase, which is checked as above.  Both return with interrupts
 * held off, until tde_wallet_keep_result().
 */
extern void tde_wallet_create_with(const char *passphrase, TdePassphraseSource source);
extern PGDLLEXPORT void tde_wallet_change_passphrase_to(const char *passphrase, TdePassphraseSource source);

/*
 * The passphrase is another one now, and the answer to this statement says so, or is all that there is of it: neither a cancel that has
 * come nor the timeout takes it away any more.
 */
extern PGDLLEXPORT void tde_wallet_keep_result(void);

/* A new random master key, at the end of the list; ereport if there is no room. */
extern PGDLLEXPORT TdeMasterKey *tde_wallet_add_master(TdeMasterKeys *keys, TdeMasterState state);

/* Take a master key off the list, if it is there. */
extern PGDLLEXPORT void tde_wallet_remove_master(TdeMasterKeys *keys, const uint8 *id);

/* ---- which server is this one: a copy of it, made by whatever means, is another ---- */

/*
 * This server.  Its id is that of its cluster (PostgreSQL's system identifier) in this very data directory on this machine: it stays
 * with restarts, crashes and renamed folders above, and changes when the directory is copied, restored or moved to another machine that
 * has an /etc/machine-id.  A snapshot of the whole file system, mounted on the same machine, is not told from the original.
 */
extern void tde_server_here(TdeServer *here);

/* May this server change a wallet with that owner?  One that is nobody's yet is that of who changes it first. */
extern bool tde_server_owns(const TdeServer *owner);

#endif							/* TDE_WALLET_WALLET_H */
