/*
 * index_order.h - indexes of columns that are declared unordered.
 */
#ifndef TDE_DDL_INDEX_ORDER_H
#define TDE_DDL_INDEX_ORDER_H

#include "utils/relcache.h"

#include "ddl/declared_type.h"

/*
 * A relation has just been made.  If it is an index: columns that are declared unordered get an operator class without order in place of the
 * default one, and those of our classes of GIN a salt; ereport where the index would tell an order otherwise.
 */
extern void tde_index_order_created(Oid relation);

/*
 * The same of what a command has made, an index or a table's, where that began before the session had loaded this library: ereport on an index that
 * tells an order or has no salt.
 */
extern void tde_index_order_check(Relation rel);

/*
 * Before ALTER TABLE adds a constraint: changes the statement such that PostgreSQL takes an index whose classes are those that the constraint would
 * have given it.
 */
extern void tde_index_constraint_prepare(const TdeAlterTable *alter, AlterTableCmd *cmd);

#endif							/* TDE_DDL_INDEX_ORDER_H */
