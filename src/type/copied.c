/*
 * copied.c - the columns of a table that COPY gives out, which no expression tells.
 *
 * COPY table TO calls the output functions of the columns' types, or as JSON their casts to it, by nothing but the types.  While it does, nothing else of the session
 * runs: so their calls are COPY's, for the table's columns.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "nodes/parsenodes.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "server/statement.h"
#include "type/copied.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/inside.h"

Oid
tde_copied_table(Node *command)
{
	CopyStmt   *copy = (CopyStmt *) command;
	Oid			table;

	if (!IsA(command, CopyStmt) || copy->is_from || copy->relation == NULL)
		return InvalidOid;
	table = RangeVarGetRelid(copy->relation, NoLock, true);
	/* with policies of rows it becomes a query, in which functions may run */
	if (!OidIsValid(table) || check_enable_rls(table, InvalidOid, true) == RLS_ENABLED)
		return InvalidOid;
	return table;
}

/* What its columns of this type, and of arrays of it, declare: a list of what tde_declared() gives; NIL if some may hold anything. */
static List *
copied_columns(Oid table, TdeType *type)
{
	Relation	rel = table_open(table, AccessShareLock);
	TupleDesc	columns = RelationGetDescr(rel);
	List	   *declared = NIL;
	bool		known = true;

	for (int i = 0; i < columns->natts && known; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		int32		typmod = column->atttypmod;
		Oid			base;
		Oid			element;

		if (column->attisdropped)
			continue;
		base = getBaseTypeAndTypmod(column->atttypid, &typmod);
		element = get_element_type(base);
		if (OidIsValid(element))
			base = element;
		/* composites and ranges may have such values of other keys */
		known = base == type->oid ? typmod >= 0 : tde_type_find(base) || !tde_type_holds_encrypted(base);
		if (base == type->oid)
			declared = list_append_unique_int(declared, tde_declared(type, typmod));
	}
	table_close(rel, AccessShareLock);
	return known ? declared : NIL;
}

TdeCall *
tde_copied_call_setup(FunctionCallInfo fcinfo)
{
	TdeCall    *call = tde_call_setup(fcinfo);
	MemoryContext before = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	List	   *copied = NIL;

	if (OidIsValid(tde_statement.copied) && fcinfo->flinfo->fn_expr == NULL)
		copied = copied_columns(tde_statement.copied, call->proc->args[0]);
	if (list_length(copied) == 1)
		call->declared[0] = linitial_int(copied);
	else
		call->more = copied;
	MemoryContextSwitchTo(before);
	return call;
}

int32
tde_copied_declared_by_any(TdeCall *call, Datum value)
{
	List	   *copied = call->more;
	ListCell   *cell;

	foreach(cell, copied)
		if (tde_datum_fits(call->proc->args[0], value, lfirst_int(cell)))
			return lfirst_int(cell);
	return linitial_int(copied);
}
