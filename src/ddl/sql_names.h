/*
 * sql_names.h - SQL's names of types after "encrypted_": encrypted_integer is encrypted_int4, as integer is int4.
 */
#ifndef TDE_DDL_SQL_NAMES_H
#define TDE_DDL_SQL_NAMES_H

#include "nodes/parsenodes.h"

/* If that is what a column's declaration says, and there is no such type, put the name of the type into it. */
extern void tde_sql_names_adopt(TypeName *name);

/* For the hook of the log, whose entry is what the client gets: an error about such a name has a hint. */
extern void tde_sql_names_explain(ErrorData *edata);

#endif							/* TDE_DDL_SQL_NAMES_H */
