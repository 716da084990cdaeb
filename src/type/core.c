/*
 * core.c - operators, PostgreSQL's own and others', looked up by name; what is the extension's.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "parser/parse_oper.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "server/compat.h"
#include "type/core.h"

bool
tde_core_is_member(Oid catalog, Oid object)
{
	return getExtensionOfObject(catalog, object) == get_extension_oid("tde_column", true);
}

/*
 * Of operators with this name, those that are PostgreSQL's.  What they take begins with their first operand: the list has places for two, also for
 * operators of one.
 */
static FuncCandidateList
core_candidates(List *name, bool binary)
{
	FuncCandidateList all = TDE_OPERATOR_CANDIDATES(name, binary ? 'b' : 'l');
	FuncCandidateList core = NULL;

	while (all)
	{
		FuncCandidateList next = all->next;

		CHECK_FOR_INTERRUPTS();
		if (tde_is_core(all->oid))
		{
			if (!binary)
				all->args[0] = all->args[1];
			all->next = core;
			core = all;
		}
		all = next;
	}
	return core;
}

Oid
tde_core_operator(const char *name, Oid *left, Oid *right)
{
	List	   *names = list_make2(makeString("pg_catalog"), makeString(pstrdup(name)));
	bool		binary = OidIsValid(*left);
	Oid			types[] = {binary ? *left : *right, *right};
	Oid			operator = OpernameGetOprid(names, *left, *right);

	if (!OidIsValid(operator) || !tde_is_core(operator))
	{
		FuncCandidateList candidates = core_candidates(names, binary);

		if (func_match_argtypes(binary ? 2 : 1, types, candidates, &candidates) > 1)
			candidates = func_select_candidate(binary ? 2 : 1, types, candidates);
		operator = candidates ? candidates->oid : InvalidOid;
	}
	if (OidIsValid(operator))
		op_input_types(operator, left, right);
	return operator;
}

Oid
tde_core_operator_for(Oid schema, const char *name, Oid *left, Oid *right)
{
	List	   *names = list_make2(makeString(get_namespace_name(schema)), makeString(pstrdup(name)));
	Operator	tuple = OidIsValid(*left) ? oper(NULL, names, *left, *right, true, -1) : left_oper(NULL, names, *right, true, -1);
	Oid			operator;

	if (tuple == NULL)
		return InvalidOid;
	operator = oprid(tuple);
	ReleaseSysCache(tuple);
	op_input_types(operator, left, right);
	return operator;
}

Oid
tde_core_operator_with(Oid type, const char *name, Oid *left, Oid *right)
{
	Oid			schema = GetSysCacheOid1(TYPEOID, Anum_pg_type_typnamespace, ObjectIdGetDatum(type));

	return OidIsValid(schema) ? tde_core_operator_for(schema, name, left, right) : InvalidOid;
}
