/*
 * operand_results.h - results of the types that operands have beside encrypted ones: they get the base type.
 */
#ifndef TDE_CLIENT_OPERAND_RESULTS_H
#define TDE_CLIENT_OPERAND_RESULTS_H

#include "nodes/parsenodes.h"

/*
 * Returns the base type of a type that only operands have (sql/25_operands.sql, sql/46_smaller.sql, sql/47_operators.sql); InvalidOid for others,
 * encrypted ones included.
 */
extern Oid	tde_operand_base(Oid type);

/*
 * Gives columns of such types the base types, in place: those that a query gives out, or the query of CREATE TABLE AS or of a cursor.  Called when
 * the query has been analyzed.  Need not be called if tde_outputs_are_core().
 */
extern void tde_operand_results(Query *query);

#endif							/* TDE_CLIENT_OPERAND_RESULTS_H */
