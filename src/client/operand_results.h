/*
 * operand_results.h - results of the types that operands have beside encrypted ones: they get the base type.
 */
#ifndef TDE_CLIENT_OPERAND_RESULTS_H
#define TDE_CLIENT_OPERAND_RESULTS_H

#include "nodes/parsenodes.h"

/* The base type of a type that only operands have (sql/25_operands.sql, sql/46_smaller.sql, sql/47_operators.sql); InvalidOid for others, encrypted ones included. */
extern Oid	tde_operand_base(Oid type);

/* Give the columns that a query gives out, or CREATE TABLE AS or a cursor, the base types of those; for nothing if tde_outputs_are_core(). */
extern void tde_operand_results(Query *query);

#endif							/* TDE_CLIENT_OPERAND_RESULTS_H */
