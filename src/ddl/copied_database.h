/*
 * copied_database.h - settings of this extension follow a database into its copies.
 */
#ifndef TDE_DDL_COPIED_DATABASE_H
#define TDE_DDL_COPIED_DATABASE_H

#include "nodes/nodes.h"

/* After a utility command, in its transaction. */
extern void tde_database_copied(Node *utility);

#endif							/* TDE_DDL_COPIED_DATABASE_H */
