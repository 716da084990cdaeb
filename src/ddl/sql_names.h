/*
 * sql_names.h - SQL's names of types after "encrypted_": encrypted_integer is encrypted_int4, as integer is int4.
 */
#ifndef TDE_DDL_SQL_NAMES_H
#define TDE_DDL_SQL_NAMES_H

#include "nodes/parsenodes.h"

/*
 * If a declaration names a type by SQL's word after "encrypted_", and there is no type of that name, puts ours in its place; name is changed.
 * encrypted_char without a length becomes encrypted_bpchar(1), as in SQL.
 */
extern void tde_sql_names_adopt(TypeName *name);

/*
 * Gives an error about such a name a hint, unless it has one.  Called for each log entry, by tde_explain_error(); reads no catalog.  The hint is
 * palloc'd in the current memory context, as the rest of the entry.
 */
extern void tde_sql_names_explain(ErrorData *edata);

#endif							/* TDE_DDL_SQL_NAMES_H */
