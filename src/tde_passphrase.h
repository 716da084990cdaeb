/*
 * tde_passphrase.h - runs the command that prints the wallet's passphrase.
 *
 * layer: 3
 */
#ifndef TDE_PASSPHRASE_H
#define TDE_PASSPHRASE_H

/* Longest passphrase, with its terminating zero. */
#define TDE_MAX_PASSPHRASE	1024

/*
 * Run the command and read the first line that it prints.  Cancellable; after timeout milliseconds the command and its
 * children are killed.  False with a LOG message if it fails, hangs, prints nothing or too much.
 */
extern bool tde_passphrase_run(const char *command, int timeout, char passphrase[TDE_MAX_PASSPHRASE]);

#endif							/* TDE_PASSPHRASE_H */
