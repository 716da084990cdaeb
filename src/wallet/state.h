/*
 * state.h - the wallet's state in shared memory; for the files that open and change it.
 */
#ifndef TDE_WALLET_STATE_H
#define TDE_WALLET_STATE_H

#include "storage/condition_variable.h"
#include "storage/lwlock.h"

#include "wallet/wallet.h"

typedef struct TdeWalletState
{
	LWLock	   *lock;			/* NULL in a backend's own state */
	ConditionVariable changed;
	pg_atomic_uint64 generation;
	TdeWalletStatus status;
	bool		busy;			/* some process runs the passphrase command, or is at the file */
	bool		closed_by_user; /* tde_wallet_close(): the passphrase command stays out of it */
	TimestampTz opened_at;
	TimestampTz failed_at;		/* 0: the last try did not fail */
	char		path[MAXPGPATH];	/* the file that was opened, or written last */
	TdeWalletContents *contents;	/* on pages of their own */
} TdeWalletState;

extern TdeWalletState *tde_wallet_state;

extern void tde_wallet_lock(LWLockMode mode);
extern void tde_wallet_unlock(void);

/* Something that needs room for a wallet's contents; it is filled with zeros at first, and cleansed however the call ends. */
typedef void (*TdeWalletUse) (TdeWalletContents *contents, void *arg);
extern void tde_wallet_with_contents(TdeWalletUse use, void *arg);

/* The same while nobody else is at the file; waits until then. */
extern void tde_wallet_at_file(TdeWalletUse use, void *arg);

/* The same by whoever has marked the state busy; the mark is taken away, however this ends. */
extern void tde_wallet_at_taken_file(TdeWalletUse use, void *arg);

/* Tell all caches of keys that the wallet has changed; with the lock held. */
extern void tde_wallet_announce(void);

/* Then, without it: see that they do not keep for long what they have. */
extern void tde_wallet_forget_keys(void);

/* The wallet is open with these contents; _locked: with the lock held, which leaves tde_wallet_forget_keys() to do. */
extern void tde_wallet_install(const TdeWalletContents *contents);
extern void tde_wallet_install_locked(const TdeWalletContents *contents);

/* A copy of the open wallet's contents; ereport if it is closed. */
extern void tde_wallet_copy(TdeWalletContents *contents);

/* Is a file configured? */
extern bool tde_wallet_has_file(void);

/* The configured file; raises the lack of it at elevel, and returns NULL below ERROR. */
extern const char *tde_wallet_path(int elevel);

/* ereport unless the wallet is the instance's. */
extern void tde_wallet_require_shared(void);

#endif							/* TDE_WALLET_STATE_H */
