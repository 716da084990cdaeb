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

/* GUCs.  File and command may be NULL or empty; the timeout is in milliseconds. */
extern char *tde_wallet_file;
extern char *tde_passphrase_command;
extern int	tde_passphrase_timeout;

/*
 * Changes with every opening, closing and change; a cache of keys is good as long as it does not.  It points into shared memory where there is some,
 * and never is NULL.
 */
extern PGDLLEXPORT pg_atomic_uint64 *tde_wallet_generation;

typedef enum TdeWalletStatus
{
	TDE_WALLET_CLOSED,
	TDE_WALLET_OPEN
} TdeWalletStatus;

/* What the view tde.wallet shows, all as of one moment. */
typedef struct TdeWalletInfo
{
	TdeWalletStatus status;
	bool		instance_wide;	/* the library was preloaded */
	bool		closed_by_user; /* so the passphrase command is not run */
	TimestampTz opened_at;
	int			master_keys;
	uint8		current_master[TDE_MASTER_ID_SIZE]; /* zeros if the wallet is closed */
	bool		prepared;		/* a master key waits for the next rotation */
	TdeServer	owner;			/* who may change it */
} TdeWalletInfo;

extern void tde_wallet_init(void);	/* from _PG_init */

/* Returns the state by value.  It opens nothing. */
extern PGDLLEXPORT TdeWalletInfo tde_wallet_info(void);

/*
 * Opens the wallet through tde_column.passphrase_command if it is closed and that may be done.  Waits for another process that is doing so.  Returns
 * false if the wallet is closed afterwards; the reason is in the server log.
 */
extern PGDLLEXPORT bool tde_wallet_ensure_open(void);

/* Returns true if tde_column.passphrase_command is set. */
extern bool tde_wallet_has_command(void);

/*
 * Copies the passphrase that tde_column.passphrase_command prints, which the caller cleanses.  Returns false if there is no command.  Throws
 * ERRCODE_TDE_WALLET_FAILURE if it fails.
 */
extern bool tde_wallet_ask_command(char passphrase[TDE_MAX_PASSPHRASE]);

/* Throws ERRCODE_TDE_WALLET_CLOSED with a hint how to open it.  what says for what it was needed ("to decrypt a value", ...). */
pg_noreturn extern PGDLLEXPORT void tde_wallet_closed_error(const char *what);

/* Copies a master key out; id NULL: the current one.  Returns false if the wallet is closed or has no such key.  The caller cleanses the copy. */
extern bool tde_wallet_find_master(const uint8 *id, TdeMasterKey *found);

/* Lists all master keys, without their bytes, into room for TDE_MAX_MASTER_KEYS.  Returns false, and no keys, if the wallet is closed. */
extern bool tde_wallet_list_masters(TdeMasterKey *list, int *count);

/* Copies the digest of the file that the wallet was opened from, or that was written last.  Returns false if it is closed. */
extern bool tde_wallet_digest(uint8 digest[TDE_WALLET_DIGEST_SIZE]);

/* Returns true if the library was in shared_preload_libraries. */
extern bool tde_wallet_is_shared(void);

/*
 * Open with this passphrase, or with what the command prints, replacing what is open.  They throw on every failure.  They also throw if master keys
 * that are open would be lost, since the file lacks them, unless confirm (may be NULL) names that loss.
 */
extern PGDLLEXPORT void tde_wallet_open_with(const char *passphrase, const char *confirm);
extern void tde_wallet_open_by_command(const char *confirm);

/* For tde_wallet_create(), before a passphrase is asked for: they throw if the file is there already, or a wallet is open. */
extern void tde_wallet_refuse_existing(void);
extern void tde_wallet_refuse_open(void);

/* Closes it for all, until a user opens it; every process forgets its keys. */
extern void tde_wallet_close_now(void);

/*
 * Writes the open wallet to a new file, under its passphrase; path NULL: to tde_column.wallet_file, which counts as opened from then.  Returns where
 * it is, which is path or the setting's own text.  Throws ERRCODE_DUPLICATE_FILE if there is such a file.
 */
extern const char *tde_wallet_save_to(const char *path);

/*
 * Changes what the open wallet holds, in the file and then in memory: edit() gets a copy of the contents and may change keys and passphrase, or
 * throw.  One process at a time.  Throws if the wallet is closed or another server's, or its file was replaced meanwhile or cannot be written;
 * nothing has changed then.
 */
typedef void (*TdeWalletEdit) (TdeWalletContents *contents, void *arg);
extern PGDLLEXPORT void tde_wallet_edit(TdeWalletEdit edit, void *arg);

/* From now on this server may change the wallet, and no other one.  Throws as an edit does. */
extern void tde_wallet_take_over_now(void);

/* Where a new passphrase comes from, and so what is checked of it. */
typedef enum TdePassphraseSource
{
	TDE_PASSPHRASE_GIVEN,		/* as an argument */
	TDE_PASSPHRASE_PRINTED,		/* by the passphrase command */
	TDE_PASSPHRASE_GENERATED,	/* at random; the statement returns it */
	TDE_PASSPHRASE_SHARED		/* nobody will know it but by shares */
} TdePassphraseSource;

/* Throws if it is too weak, or if the passphrase command, if there is one, would not open the wallet under it at the next start. */
extern void tde_wallet_check_new_passphrase(const char *passphrase, TdePassphraseSource source);

/* Sends a NOTICE that copies of the wallet are under the passphrase that was changed. */
extern PGDLLEXPORT void tde_wallet_note_copies(void);

/* Hands the wallet to the backup command.  Throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if there is none. */
extern void tde_wallet_back_up(void);

/*
 * Make a new wallet file and open it; encrypt the wallet under a new passphrase, which is checked as above.  Both return with interrupts held off,
 * until tde_wallet_keep_result(): whoever asked must learn the passphrase, or that it has changed.
 */
extern void tde_wallet_create_with(const char *passphrase, TdePassphraseSource source);
extern PGDLLEXPORT void tde_wallet_change_passphrase_to(const char *passphrase, TdePassphraseSource source);

/*
 * The passphrase is another one now, and the answer to this statement says so, or is all that there is of it: neither a cancel that has
 * come nor the timeout takes it away any more.
 */
extern PGDLLEXPORT void tde_wallet_keep_result(void);

/* For an edit: adds a random master key to the list, and returns it there.  Throws ERRCODE_PROGRAM_LIMIT_EXCEEDED if there is no room. */
extern PGDLLEXPORT TdeMasterKey *tde_wallet_add_master(TdeMasterKeys *keys, TdeMasterState state);

/* For an edit: takes a master key off the list, if it is there, and cleanses it.  Others may change places. */
extern PGDLLEXPORT void tde_wallet_remove_master(TdeMasterKeys *keys, const uint8 *id);

/* ---- which server is this one: a copy of it, made by whatever means, is another ---- */

/*
 * This server.  Its id is that of its cluster (PostgreSQL's system identifier) in this very data directory on this machine: it stays
 * with restarts, crashes and renamed folders above, and changes when the directory is copied, restored or moved to another machine that
 * has an /etc/machine-id.  A snapshot of the whole file system, mounted on the same machine, is not told from the original.
 */
extern void tde_server_here(TdeServer *here);

/* Returns true if this server may change a wallet with that owner.  One that is nobody's yet is that of who changes it first. */
extern bool tde_server_owns(const TdeServer *owner);

#endif							/* TDE_WALLET_WALLET_H */
