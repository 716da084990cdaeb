/*
 * file.h - reading and writing the wallet file: permissions, atomicity, and the errors about them.
 */
#ifndef TDE_WALLET_FILE_H
#define TDE_WALLET_FILE_H

#include "crypto/container.h"
#include "wallet/passphrase.h"

#define TDE_WALLET_DIGEST_SIZE 32

/* A wallet file, decoded.  Whoever has one on the stack cleanses it. */
typedef struct TdeWalletContents
{
	TdeMasterKeys keys;
	char		passphrase[TDE_MAX_PASSPHRASE];
	uint8		digest[TDE_WALLET_DIGEST_SIZE]; /* of the file's bytes: SHA-256 */
	bool		keep_previous;	/* of what is replaced, copies */
	bool		prove;			/* the passphrase is new: see that it opens the file before that replaces anything */
	bool		must_answer;	/* the passphrase is new: who asked for it is to know that, and be told what nobody else is */
} TdeWalletContents;

/*
 * Read the file and decode it with contents->passphrase.  Errors are raised at elevel; below ERROR the function returns
 * false.
 */
extern bool tde_wallet_file_read(const char *path, TdeWalletContents *contents, int elevel);

/* ereport if there is a file of this name, of whatever kind. */
extern void tde_wallet_file_refuse_existing(const char *path);

/*
 * Write a new file, durably, and set contents->digest; ereport if there is one already.  backup: see that it is backed up.  Returns with
 * interrupts held off, so that nothing comes between the file and what its caller notes of it; RESUME_INTERRUPTS() after that.
 */
extern void tde_wallet_file_create(const char *path, TdeWalletContents *contents, bool backup);

/*
 * Write the file anew, durably, once it is backed up: after a crash at any point it is the old or the new one, whole.  The old one is
 * kept as PATH.previous with those before it, or none of them is and that is a copy of the new one.  ereport if that fails, or the file is
 * not the one of contents->digest any more, which is then set to the new one; WARNING for surplus copies that stay.  Returns with interrupts held off, as above.
 */
extern void tde_wallet_file_replace(const char *path, TdeWalletContents *contents);

/* Where symbolic links lead, with the copies beside it; the path itself if there is no file. */
extern char *tde_wallet_file_resolve(const char *path);

/* The digest of the file as it is now.  Errors as above. */
extern bool tde_wallet_file_digest(const char *path, uint8 digest[TDE_WALLET_DIGEST_SIZE], int elevel);

/* The time as a wallet has it: microseconds since 1970-01-01 UTC. */
extern int64 tde_wallet_file_now(void);

/* Does the path lead into the data directory?  WARNING if it does. */
extern bool tde_wallet_file_is_inside(const char *path);
extern void tde_wallet_file_warn_place(const char *path);

#endif							/* TDE_WALLET_FILE_H */
