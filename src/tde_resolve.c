/*
 * tde_resolve.c - which functions of the base types compare two operands of a call.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "access/nbtree.h"

#include "tde_compat.h"
#include "tde_resolve.h"

static bool
is_float(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

static bool
is_number(Oid type)
{
	return is_float(type) || type == NUMERICOID || type == INT2OID || type == INT4OID || type == INT8OID;
}

/* The type that both are converted to; InvalidOid if they do not meet. */
static Oid
common_number(Oid left, Oid right)
{
	if (!is_number(left) || !is_number(right))
		return InvalidOid;
	return is_float(left) || is_float(right) ? FLOAT8OID : NUMERICOID;
}

Oid
tde_resolve_btree_support(Oid left, Oid right, int16 number)
{
	Oid			opclass = GetDefaultOpClass(left, BTREE_AM_OID);

	if (!OidIsValid(opclass))
		return InvalidOid;
	return get_opfamily_proc(get_opclass_family(opclass), get_opclass_input_type(opclass), right, number);
}

/* Comparison within one operator family, varchar standing for text as there; false if the family has none for them. */
static bool
resolve_in_family(Oid left, Oid right, TdeComparison *comparison)
{
	Oid			left_class = GetDefaultOpClass(left, BTREE_AM_OID);
	Oid			right_class = GetDefaultOpClass(right, BTREE_AM_OID);
	Oid			family;
	Oid			compare;
	Oid			equal;
	Oid			equal_image;

	if (!OidIsValid(left_class) || !OidIsValid(right_class))
		return false;
	family = get_opclass_family(left_class);
	left = get_opclass_input_type(left_class);
	right = get_opclass_input_type(right_class);
	compare = get_opfamily_proc(family, left, right, BTORDER_PROC);
	equal = get_opfamily_member(family, left, right, BTEqualStrategyNumber);
	if (!OidIsValid(compare) || !OidIsValid(equal))
		return false;
	tde_lookup_function(&comparison->compare, compare);
	tde_lookup_function(&comparison->equal, get_opcode(equal));
	comparison->same_bytes = left == right;
	comparison->input_type = left;
	equal_image = get_opfamily_proc(family, left, left, BTEQUALIMAGE_PROC);
	/* bpchar claims it, but 'a' and 'a ' are equal where no length has padded them */
	if (left == right && left != BPCHAROID && OidIsValid(equal_image))
		tde_lookup_function(&comparison->equal_image, equal_image);
	return true;
}

static bool
resolve_as_number(Oid left, Oid right, TdeComparison *comparison)
{
	Oid			common = common_number(left, right);
	Oid			from[2] = {left, right};

	if (!OidIsValid(common) || !resolve_in_family(common, common, comparison))
		return false;
	for (int i = 0; i < 2; i++)
	{
		Oid			function;

		if (from[i] == common)
			continue;
		if (find_coercion_pathway(common, from[i], COERCION_EXPLICIT, &function) != COERCION_PATH_FUNC)
			return false;
		comparison->same_bytes = false;
		tde_lookup_function(&comparison->convert[i], function);
		comparison->free_converted[i] = !get_typbyval(common);
	}
	return true;
}

/* Types with equality alone. */
static bool
resolve_equality(Oid left, Oid right, TdeComparison *comparison)
{
	TypeCacheEntry *entry = lookup_type_cache(left, TYPECACHE_EQ_OPR);

	if (left != right || !OidIsValid(entry->eq_opr))
		return false;
	tde_lookup_function(&comparison->equal, get_opcode(entry->eq_opr));
	return true;
}

TdeComparison *
tde_resolve_comparison(TdeProc *proc)
{
	Oid			left = proc->args[0] ? proc->args[0]->base : proc->arg_types[0];
	Oid			right = proc->args[1] ? proc->args[1]->base : proc->arg_types[1];
	TdeComparison *comparison = MemoryContextAllocZero(TopMemoryContext, sizeof(TdeComparison));

	if (!resolve_in_family(left, right, comparison) && !resolve_as_number(left, right, comparison) &&
		!resolve_equality(left, right, comparison))
	{
		pfree(comparison);
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify a comparison of types %s and %s", format_type_be(left), format_type_be(right))));
	}
	proc->comparison = comparison;
	return comparison;
}
