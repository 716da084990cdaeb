/*
 * file.h - reading and writing the wallet file: permissions, atomicity, and the errors about them.
 *
 * A file is read whole and never locked: it is replaced by rename(), so a reader finds the old one or the new one.  Writers of one instance keep each
 * other out by the state in shared memory (wallet/state.h), and those of others are noticed by the file's digest.
 */
#ifndef TDE_WALLET_FILE_H
#define TDE_WALLET_FILE_H

#include "crypto/container.h"
#include "wallet/passphrase.h"

#define TDE_WALLET_DIGEST_SIZE 32

/* A wallet file, decoded, with the passphrase that it is under.  Whoever has one on the stack cleanses it (tde_wallet_with_contents()). */
typedef struct TdeWalletContents
{
	TdeMasterKeys keys;
	char		passphrase[TDE_MAX_PASSPHRASE]; /* ends with a zero; what the file was opened with, or will be under */
	uint8		digest[TDE_WALLET_DIGEST_SIZE]; /* of the file's bytes: SHA-256 */
	bool		keep_previous;	/* of what is replaced, copies */
	bool		prove;			/* the passphrase is new: see that it opens the file before that replaces anything */
	bool		must_answer;	/* the passphrase is new: who asked for it is to know that, and be told what nobody else is */
} TdeWalletContents;

/*
 * Reads the file and decodes it with contents->passphrase.  Errors are raised at elevel: ERRCODE_TDE_WALLET_FAILURE with a hint for each cause,
 * ERRCODE_TDE_CRYPTO_FAILURE.  Below ERROR the function returns false then, and the keys are not to be used.
 */
extern bool tde_wallet_file_read(const char *path, TdeWalletContents *contents, int elevel);

/* Throws ERRCODE_DUPLICATE_FILE if there is a file of this name, of whatever kind, or a symbolic link that leads nowhere. */
extern void tde_wallet_file_refuse_existing(const char *path);

/*
 * Writes a new file, durably, and sets contents->digest.  Throws ERRCODE_DUPLICATE_FILE if there is one already.  backup: see that it is backed up.
 *
 * Returns with interrupts held off, so that nothing comes between the file and what its caller notes of it; the caller calls RESUME_INTERRUPTS()
 * after that.
 */
extern void tde_wallet_file_create(const char *path, TdeWalletContents *contents, bool backup);

/*
 * Writes the file anew, durably, once it is backed up: after a crash at any point it is the old or the new one, whole.  The old one is kept as
 * PATH.previous with those before it (contents->keep_previous).  Otherwise none of them is kept, and PATH.previous is a copy of the new one.
 *
 * Throws if that fails, or if the file is not the one of contents->digest any more; that is set to the new one's.  A WARNING tells of surplus copies
 * that stay.  Returns with interrupts held off, as above.
 */
extern void tde_wallet_file_replace(const char *path, TdeWalletContents *contents);

/* Returns where symbolic links lead, palloc'd: there the copies are.  It is the path itself if there is no file. */
extern char *tde_wallet_file_resolve(const char *path);

/* Computes the digest of the file as it is now, without a passphrase.  Errors as in tde_wallet_file_read(). */
extern bool tde_wallet_file_digest(const char *path, uint8 digest[TDE_WALLET_DIGEST_SIZE], int elevel);

/* Returns the time as a wallet has it: microseconds since 1970-01-01 UTC. */
extern int64 tde_wallet_file_now(void);

/* Returns true if the path leads into the data directory.  The other one sends a WARNING then, and of a folder that others can write to. */
extern bool tde_wallet_file_is_inside(const char *path);
extern void tde_wallet_file_warn_place(const char *path);

#endif							/* TDE_WALLET_FILE_H */
