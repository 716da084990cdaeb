/*
 * index_order.h - indexes of columns that are declared unordered.
 */
#ifndef TDE_DDL_INDEX_ORDER_H
#define TDE_DDL_INDEX_ORDER_H

#include "utils/relcache.h"

#include "ddl/declared_type.h"

/*
 * Looks at a relation that has just been made; of what is no index it does nothing.  look_at_object() (functions/hooks.c) calls it for
 * OAT_POST_CREATE, before the index is built.  Columns that are declared unordered get an operator class without order in place of the default one,
 * and columns with our classes of GIN a salt.
 *
 * Throws ERRCODE_FEATURE_NOT_SUPPORTED where the index would tell an order by a class that was named or cannot be replaced.
 */
extern void tde_index_order_created(Oid relation);

/*
 * Throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if an index tells an order that it must not, or has no salt.  The event trigger calls it with what
 * a command has made, an index or a table, if the command began before this session had loaded the library: then the hook has not seen it.
 */
extern void tde_index_order_check(Relation rel);

/*
 * Lets ALTER TABLE ... ADD PRIMARY KEY or UNIQUE ... USING INDEX take an index of unordered columns, if it has the classes that the constraint would
 * have given it.  Changes cmd into an AT_AddIndexConstraint, and appends SET NOT NULL of a primary key's columns.  cmd: an AT_AddConstraint.  Leaves
 * all other indexes to PostgreSQL.
 */
extern void tde_index_constraint_prepare(const TdeAlterTable *alter, AlterTableCmd *cmd);

#endif							/* TDE_DDL_INDEX_ORDER_H */
