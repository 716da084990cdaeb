/*
 * definition.c - the text of what belongs to a table or view, printed with no more than its owner's rights.
 *
 * Expressions of the user's, as text: read for the new type of a column they find the operators that belong to it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_trigger.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "maintenance/owner.h"
#include "maintenance/stored_trees.h"
#include "operators/opclass.h"
#include "server/compat.h"

PG_FUNCTION_INFO_V1(tde_definition);

/* NULL if the object has no such expression. */
static char *
print_expression(Oid class, Oid object, AttrNumber column)
{
	Node	   *expression = tde_stored_expression(class, object, column);
	Oid			relation = tde_stored_relation(class, object);

	return expression ? deparse_expression(expression, deparse_context_for(get_rel_name(relation), relation), false, false) : NULL;
}

static char *
print_policy(Oid policy)
{
	char	   *condition = print_expression(PolicyRelationId, policy, Anum_pg_policy_polqual);
	char	   *check = print_expression(PolicyRelationId, policy, Anum_pg_policy_polwithcheck);
	StringInfoData text;

	initStringInfo(&text);
	if (condition)
		appendStringInfo(&text, "USING (%s)", condition);
	if (check)
		appendStringInfo(&text, " WITH CHECK (%s)", check);
	return text.data;
}

static char *
print(PGFunction function, Oid object)
{
	return TextDatumGetCString(DirectFunctionCall1(function, ObjectIdGetDatum(object)));
}

/* With the classes that are named for a plain column: an encrypted one takes those that stand for them. */
static char *
print_index(Oid index)
{
	char	   *definition = print(pg_get_indexdef, index);
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", index);
	definition = tde_opclass_plain_texts(definition, SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indclass, &isnull));
	ReleaseSysCache(tuple);
	return definition;
}

static char *
print_definition(Oid class, Oid object)
{
	char		kind;

	switch (class)
	{
		case AttrDefaultRelationId:
			return print_expression(class, object, Anum_pg_attrdef_adbin);
		case ConstraintRelationId:
			return print(pg_get_constraintdef, object);
		case PolicyRelationId:
			return print_policy(object);
		case RewriteRelationId:
			return print(pg_get_ruledef, object);
		case StatisticExtRelationId:
			return print(pg_get_statisticsobjdef, object);
		case TriggerRelationId:
			return print(pg_get_triggerdef, object);
		default:
			kind = get_rel_relkind(object);
			if (kind == RELKIND_VIEW || kind == RELKIND_MATVIEW)
				return print(pg_get_viewdef, object);
			return kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX ? print_index(object) : NULL;
	}
}

/*
 * tde_definition(class regclass, object oid) - of a constraint, index, view (its query), rule, trigger, policy (its expressions), statistics
 * object or default.  NULL if the caller does not own the table or view: its constants may be encrypted, and are printed as its owner.
 */
Datum
tde_definition(PG_FUNCTION_ARGS)
{
	Oid			class = PG_GETARG_OID(0);
	Oid			object = PG_GETARG_OID(1);
	Oid			relation = tde_stored_relation(class, object);
	Oid			owner = InvalidOid;
	TdeCaller	caller;
	char	   *text;

	if (OidIsValid(relation) && TDE_OWNS_RELATION(relation))
		owner = GetSysCacheOid1(RELOID, Anum_pg_class_relowner, ObjectIdGetDatum(relation));
	if (!OidIsValid(owner))
		PG_RETURN_NULL();
	tde_owner_begin_as_on_path(&caller, owner);
	text = print_definition(class, object);
	tde_owner_end(&caller);
	if (text == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(text));
}
