/*
 * partition_key.h - an expression of encrypted columns in a partition key stays encrypted.
 */
#ifndef TDE_DDL_PARTITION_KEY_H
#define TDE_DDL_PARTITION_KEY_H

#include "nodes/parsenodes.h"

/*
 * Before CREATE TABLE runs, when the types of the columns have their modifiers: changes expressions and operator classes of the key.
 * source: the statement's text, for the errors.
 */
extern void tde_partition_key_prepare(CreateStmt *stmt, const char *source);

#endif							/* TDE_DDL_PARTITION_KEY_H */
