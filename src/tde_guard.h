/*
 * tde_guard.h - declarations that would store in clear what they compute from encrypted columns.
 *
 * layer: 8
 */
#ifndef TDE_GUARD_H
#define TDE_GUARD_H

#include "nodes/parsenodes.h"
#include "utils/rel.h"

/* Generated columns and statistics of a table: ereport.  Its partition key, the expressions of an index: a warning. */
extern void tde_guard_relation(Relation rel);

extern void tde_guard_statistics(Oid statistics);

/* CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW: a warning that names the columns. */
extern void tde_guard_query(CreateTableAsStmt *stmt);

#endif							/* TDE_GUARD_H */
