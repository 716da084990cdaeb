/*
 * dump_path.h - statements of a dump find the operators of encrypted types.
 */
#ifndef TDE_DDL_DUMP_PATH_H
#define TDE_DDL_DUMP_PATH_H

#include "nodes/nodes.h"

/*
 * Before a utility command: puts the extension's schema on the search path where that is empty and an expression that the command stores
 * needs it.  The level of settings to be given to tde_dump_path_end(); 0: nothing was done.
 */
extern int	tde_dump_path_begin(Node *stmt);

extern void tde_dump_path_end(int level);

#endif							/* TDE_DDL_DUMP_PATH_H */
