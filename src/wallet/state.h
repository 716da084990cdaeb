/*
 * state.h - the wallet's state in shared memory; for the files that open and change it.
 */
#ifndef TDE_WALLET_STATE_H
#define TDE_WALLET_STATE_H

#include "storage/condition_variable.h"
#include "storage/lwlock.h"

#include "wallet/wallet.h"

/*
 * One for the instance, in main shared memory, or one for each backend where the library is not preloaded.  All but generation is read and written
 * under the lock; generation grows under it, and is read without.
 */
typedef struct TdeWalletState
{
	LWLock	   *lock;			/* NULL in a backend's own state */
	ConditionVariable changed;	/* broadcast when busy ends, and by closing */
	pg_atomic_uint64 generation;	/* starts at 1; see tde_wallet_generation */
	TdeWalletStatus status;
	bool		busy;			/* some process runs the passphrase command, or is at the file */
	bool		closed_by_user; /* tde_wallet_close(): the passphrase command stays out of it */
	TimestampTz opened_at;		/* of the last opening; stays when it is closed */
	TimestampTz failed_at;		/* 0: the last try did not fail */
	char		path[MAXPGPATH];	/* the file that was opened, or written last; written at the file alone */
	TdeWalletContents *contents;	/* on pages of their own */
} TdeWalletState;

extern TdeWalletState *tde_wallet_state;

/* Nothing slow happens between them.  They do nothing for a backend's own state. */
extern void tde_wallet_lock(LWLockMode mode);
extern void tde_wallet_unlock(void);

/* Something that needs room for a wallet's contents.  It is filled with zeros at first, and cleansed however the call ends. */
typedef void (*TdeWalletUse) (TdeWalletContents *contents, void *arg);
extern void tde_wallet_with_contents(TdeWalletUse use, void *arg);

/* The same while nobody else of the instance is at the file.  Waits until then, and can be cancelled. */
extern void tde_wallet_at_file(TdeWalletUse use, void *arg);

/* The same by whoever has marked the state busy.  The mark is taken away, however this ends, and whoever waits is woken. */
extern void tde_wallet_at_taken_file(TdeWalletUse use, void *arg);

/* Tells all caches of keys that the wallet has changed, by another generation; with the lock held. */
extern void tde_wallet_announce(void);

/* Then, without it: sees that they do not keep for long what they have. */
extern void tde_wallet_forget_keys(void);

/* Opens the wallet with these contents, which are copied.  _locked: with the lock held, which leaves tde_wallet_forget_keys() to do. */
extern void tde_wallet_install(const TdeWalletContents *contents);
extern void tde_wallet_install_locked(const TdeWalletContents *contents);

/* Copies the open wallet's contents.  Throws ERRCODE_TDE_WALLET_CLOSED if it is closed. */
extern void tde_wallet_copy(TdeWalletContents *contents);

/* Returns true if a file is configured; it may not exist. */
extern bool tde_wallet_has_file(void);

/* Returns the configured file.  Raises the lack of it at elevel, and returns NULL below ERROR. */
extern const char *tde_wallet_path(int elevel);

/* Throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE unless the wallet is the instance's. */
extern void tde_wallet_require_shared(void);

#endif							/* TDE_WALLET_STATE_H */
