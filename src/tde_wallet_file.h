/*
 * tde_wallet_file.h - reading and writing the wallet file: permissions, atomicity, and the errors about them.
 *
 * layer: 3
 */
#ifndef TDE_WALLET_FILE_H
#define TDE_WALLET_FILE_H

#include "tde_pkcs12.h"

/*
 * Read and decode the file.  Errors are raised at elevel; below ERROR the function returns false.  On success the caller
 * cleanses *keys when done.
 */
extern bool tde_wallet_file_read(const char *path, const char *passphrase, TdeMasterKeys *keys, int elevel);

/* Write a new file, durably; ereport if there is one already. */
extern void tde_wallet_file_create(const char *path, const char *passphrase, const TdeMasterKeys *keys);

/* WARNING if the path leads into the data directory. */
extern void tde_wallet_file_warn_place(const char *path);

#endif							/* TDE_WALLET_FILE_H */
