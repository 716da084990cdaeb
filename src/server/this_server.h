/*
 * this_server.h - which server is this one: a copy of it, made by whatever means, is another.
 */
#ifndef TDE_SERVER_THIS_SERVER_H
#define TDE_SERVER_THIS_SERVER_H

#include "postgres.h"

#include "crypto/container.h"

/*
 * This server.  Its id is that of its cluster (PostgreSQL's system identifier) in this very data directory on this machine: it stays
 * with restarts, crashes and renamed folders above, and changes when the directory is copied, restored or moved to another machine that
 * has an /etc/machine-id.  A snapshot of the whole file system, mounted on the same machine, is not told from the original.
 */
extern void tde_server_here(TdeServer *here);

/* May this server change a wallet with that owner?  One that is nobody's yet is that of who changes it first. */
extern bool tde_server_owns(const TdeServer *owner);

#endif							/* TDE_SERVER_THIS_SERVER_H */
