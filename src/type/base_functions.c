/*
 * base_functions.c - functions of the base types: a type's own, and those that compare, or compute with, two operands of a call.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "server/compat.h"
#include "type/base_functions.h"
#include "type/core.h"

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

/* What orders the values of a type: the family of its default class for btree, and the type that this is for; family 0: nothing. */
typedef struct Order
{
	Oid			family;
	Oid			type;
} Order;

/*
 * PostgreSQL has named the default classes of most of its types after them, and to look there takes two look-ups.  The type cache goes through all
 * classes and looks for a cast to the type of each, which was a third of what the first comparison of a session cost.
 */
static bool
find_by_name(Oid type, Order *order)
{
	HeapTuple	tuple = type < FirstNormalObjectId ? SearchSysCache1(TYPEOID, ObjectIdGetDatum(type)) : NULL;
	char		name[2 * NAMEDATALEN];
	Form_pg_opclass class;
	bool		found;

	if (!HeapTupleIsValid(tuple))
		return false;
	snprintf(name, sizeof(name), "%s_ops", NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname));
	ReleaseSysCache(tuple);
	tuple = SearchSysCache3(CLAAMNAMENSP, ObjectIdGetDatum(BTREE_AM_OID), CStringGetDatum(name), ObjectIdGetDatum(PG_CATALOG_NAMESPACE));
	if (!HeapTupleIsValid(tuple))
		return false;
	class = (Form_pg_opclass) GETSTRUCT(tuple);
	*order = (Order) {class->opcfamily, class->opcintype};
	found = class->opcdefault && class->opcintype == type;
	ReleaseSysCache(tuple);
	return found;
}

static Order
order_of(Oid type)
{
	TypeCacheEntry *entry;
	Order		order;

	if (find_by_name(type, &order))
		return order;
	entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	return (Order) {entry->btree_opf, entry->btree_opintype};
}

Oid
tde_base_btree_support(Oid left, Oid right, int16 number)
{
	Order		order = order_of(left);

	return OidIsValid(order.family) ? get_opfamily_proc(order.family, order.type, right, number) : InvalidOid;
}

/*
 * A comparison within one operator family, varchar standing for text as there; false if the family has none for the two types.  int4 and int8 are
 * compared so.
 */
static bool
resolve_in_family(Oid left, Oid right, TdeComparison *comparison)
{
	Order		left_order = order_of(left);
	Order		right_order = order_of(right);
	Oid			family = left_order.family;
	Oid			compare;
	Oid			equal;
	Oid			equal_image;

	if (!OidIsValid(family) || !OidIsValid(right_order.family))
		return false;
	left = left_order.type;
	right = right_order.type;
	compare = get_opfamily_proc(family, left, right, BTORDER_PROC);
	equal = get_opfamily_member(family, left, right, BTEqualStrategyNumber);
	if (!OidIsValid(compare) || !OidIsValid(equal))
		return false;
	comparison->compare = tde_type_function(compare);
	comparison->equal = tde_type_function(get_opcode(equal));
	comparison->same_bytes = left == right;
	comparison->input_type = left;
	equal_image = get_opfamily_proc(family, left, left, BTEQUALIMAGE_PROC);
	/* bpchar claims it, but 'a' and 'a ' are equal where no length has padded them */
	if (left == right && left != BPCHAROID && OidIsValid(equal_image))
		comparison->equal_image = tde_type_function(equal_image);
	return true;
}

/* The function that converts; left alone if the types are the same.  False if there is none. */
static bool
resolve_conversion(Oid source, Oid target, FmgrInfo **convert)
{
	Oid			function;

	if (source == target)
		return true;
	if (find_coercion_pathway(target, source, COERCION_EXPLICIT, &function) != COERCION_PATH_FUNC)
		return false;
	*convert = tde_type_function(function);
	return true;
}

/* A comparison of numbers that have no common family, as numeric or as float8; false if one of them is no number. */
static bool
resolve_as_number(Oid left, Oid right, TdeComparison *comparison)
{
	Oid			common = common_number(left, right);
	Oid			from[2] = {left, right};

	if (!OidIsValid(common) || !resolve_in_family(common, common, comparison))
		return false;
	for (int i = 0; i < 2; i++)
	{
		if (!resolve_conversion(from[i], common, &comparison->convert[i]))
			return false;
		if (from[i] != common)
			comparison->same_bytes = false;
		comparison->free_converted[i] = from[i] != common && !get_typbyval(common);
	}
	comparison->converts = comparison->convert[0] || comparison->convert[1];
	return true;
}

/* A comparison of a type that has equality alone, such as xid; there is no order then. */
static bool
resolve_equality(Oid left, Oid right, TdeComparison *comparison)
{
	TypeCacheEntry *entry = lookup_type_cache(left, TYPECACHE_EQ_OPR);

	if (left != right || !OidIsValid(entry->eq_opr))
		return false;
	comparison->equal = tde_type_function(get_opcode(entry->eq_opr));
	return true;
}

Oid
tde_base_compared_as(Oid type)
{
	Order		order = order_of(type);

	return OidIsValid(order.family) ? order.type : type;
}

/* The type of an argument in clear; for an operand type (plain_numeric) the number that it stands for. */
static Oid
plain_base_type(TdeProc *proc, int arg)
{
	Oid			type = proc->args[arg] ? proc->args[arg]->base : proc->arg_types[arg];
	Oid			compared_as = tde_base_compared_as(type);

	return is_number(compared_as) ? compared_as : type;
}

pg_noreturn static void
incomparable(Oid left, Oid right)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("could not identify a comparison of types %s and %s", format_type_be(left), format_type_be(right))));
}

void *
tde_base_keep(void *had, const void *found, Size size)
{
	if (had == NULL || memcmp(had, found, size) != 0)
		had = memcpy(MemoryContextAlloc(TopMemoryContext, size), found, size);
	return had;
}

/* Keeps it with the function.  epoch: when the look-up began, so that what has changed since is looked up again. */
static TdeComparison *
keep_comparison(TdeProc *proc, const TdeComparison *found, uint64 epoch)
{
	proc->comparison = tde_base_keep(proc->comparison, found, sizeof(*found));
	proc->resolved = epoch;
	return proc->comparison;
}

/* Beside a char(n) a varchar is one, as it stands: PostgreSQL takes the operator of which it has one of the two types. */
static Oid
beside_padded(Oid type, Oid other)
{
	return type == VARCHAROID && other == BPCHAROID ? BPCHAROID : type;
}

TdeComparison *
tde_base_comparison(TdeProc *proc)
{
	uint64		epoch = tde_functions_epoch;
	Oid			left = beside_padded(plain_base_type(proc, 0), plain_base_type(proc, 1));
	Oid			right = beside_padded(plain_base_type(proc, 1), plain_base_type(proc, 0));
	TdeComparison comparison;

	memset(&comparison, 0, sizeof(comparison));
	if (!resolve_in_family(left, right, &comparison) && !resolve_as_number(left, right, &comparison) &&
		!resolve_equality(left, right, &comparison))
		incomparable(left, right);
	return keep_comparison(proc, &comparison, epoch);
}

/* Strings of this type in the order of their bytes. */
static TdeComparison *
keep_pattern(TdeProc *proc, Oid string, uint64 epoch)
{
	TdeComparison comparison;

	memset(&comparison, 0, sizeof(comparison));
	comparison.compare = tde_type_function(string == BPCHAROID ? F_BTBPCHAR_PATTERN_CMP : F_BTTEXT_PATTERN_CMP);
	return keep_comparison(proc, &comparison, epoch);
}

TdeComparison *
tde_base_pattern(TdeProc *proc)
{
	uint64		epoch = tde_functions_epoch;
	Oid			left = tde_base_compared_as(beside_padded(plain_base_type(proc, 0), plain_base_type(proc, 1)));
	Oid			right = tde_base_compared_as(beside_padded(plain_base_type(proc, 1), plain_base_type(proc, 0)));

	if (left != right || (left != TEXTOID && left != BPCHAROID))
		incomparable(left, right);
	return keep_pattern(proc, left, epoch);
}

void
tde_base_padded(TdeProc *proc, bool pattern)
{
	uint64		epoch = tde_functions_epoch;
	TdeComparison comparison;

	memset(&comparison, 0, sizeof(comparison));
	if (pattern)
		keep_pattern(proc, BPCHAROID, epoch);
	else if (resolve_in_family(BPCHAROID, BPCHAROID, &comparison))
		keep_comparison(proc, &comparison, epoch);
	else
		incomparable(BPCHAROID, BPCHAROID);
}

bool
tde_base_can_hide_order(Oid base)
{
	TypeCacheEntry *entry = lookup_type_cache(base, TYPECACHE_HASH_EXTENDED_PROC | TYPECACHE_BTREE_OPFAMILY);

	return OidIsValid(entry->hash_extended_proc) && OidIsValid(entry->btree_opf);
}

FmgrInfo *
tde_base_extended_hash(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);

	if (!OidIsValid(entry->hash_extended_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an extended hash function for type %s", format_type_be(type))));
	return tde_type_function(entry->hash_extended_proc);
}

void
tde_base_unordered(TdeProc *proc, bool padded)
{
	uint64		epoch = tde_functions_epoch;
	TdeComparison comparison;
	Oid			types[2];

	memset(&comparison, 0, sizeof(comparison));
	for (int i = 0; i < 2; i++)
		types[i] = padded ? BPCHAROID : beside_padded(plain_base_type(proc, i), plain_base_type(proc, 1 - i));
	if (!resolve_in_family(types[0], types[1], &comparison))
		incomparable(types[0], types[1]);
	for (int i = 0; i < 2; i++)
		comparison.hash[i] = tde_base_extended_hash(types[i]);
	keep_comparison(proc, &comparison, epoch);
}

TdeArithmetic *
tde_base_arithmetic(TdeProc *proc, const char *symbol)
{
	uint64		epoch = tde_functions_epoch;
	Oid			left = plain_base_type(proc, 0);
	Oid			right = plain_base_type(proc, 1);
	Oid			operator = tde_core_operator(symbol, &left, &right);
	TdeArithmetic arithmetic = {0};

	if (!OidIsValid(operator) || !resolve_conversion(plain_base_type(proc, 0), left, &arithmetic.convert[0]) ||
		!resolve_conversion(plain_base_type(proc, 1), right, &arithmetic.convert[1]) || get_op_rettype(operator) != proc->result_type)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("function %s does not compute as the base types' operator", format_procedure(proc->oid))));
	arithmetic.operate = tde_type_function(get_opcode(operator));
	proc->arithmetic = tde_base_keep(proc->arithmetic, &arithmetic, sizeof(arithmetic));
	proc->resolved = epoch;
	return proc->arithmetic;
}

/* ---- functions of the base type ---- */

/* Forgets the functions of a type that may have changed, before one is used.  Their FmgrInfos stay where they are. */
static void
forget_changed(TdeType *type)
{
	if (likely(type->functions_epoch == tde_functions_epoch))
		return;
	type->functions_epoch = tde_functions_epoch;
	type->input = type->output = type->receive = type->send = type->coerce = NULL;
}

FmgrInfo *
tde_base_input(TdeType *type)
{
	Oid			function;

	forget_changed(type);
	if (type->input == NULL)
	{
		getTypeInputInfo(type->base, &function, &type->ioparam);
		type->input = tde_type_function(function);
	}
	return type->input;
}

FmgrInfo *
tde_base_output(TdeType *type)
{
	Oid			function;
	bool		is_varlena;

	forget_changed(type);
	if (type->output == NULL)
	{
		getTypeOutputInfo(type->base, &function, &is_varlena);
		type->output = tde_type_function(function);
	}
	return type->output;
}

FmgrInfo *
tde_base_receive(TdeType *type)
{
	Oid			function;

	forget_changed(type);
	if (type->receive == NULL)
	{
		getTypeBinaryInputInfo(type->base, &function, &type->ioparam);
		type->receive = tde_type_function(function);
	}
	return type->receive;
}

FmgrInfo *
tde_base_send(TdeType *type)
{
	Oid			function;
	bool		is_varlena;

	forget_changed(type);
	if (type->send == NULL)
	{
		getTypeBinaryOutputInfo(type->base, &function, &is_varlena);
		type->send = tde_type_function(function);
	}
	return type->send;
}

Datum
tde_base_coerce(TdeType *type, Datum value, int32 base_typmod, bool is_explicit)
{
	FmgrInfo   *coerce;
	Oid			function;

	if (base_typmod < 0)
		return value;
	forget_changed(type);
	coerce = type->coerce;
	if (coerce == NULL)
	{
		if (find_typmod_coercion_function(type->base, &function) != COERCION_PATH_FUNC)
			return value;
		type->coerce = coerce = tde_type_function(function);
	}
	return FunctionCall3(coerce, value, Int32GetDatum(base_typmod), BoolGetDatum(is_explicit));
}

bool
tde_base_keeps(TdeType *type, int32 from, int32 to)
{
	Oid			function;
	Oid			collation;
	Param	   *value;
	Node	   *fitting;

	if (from == to || to < 0 || find_typmod_coercion_function(type->base, &function) != COERCION_PATH_FUNC)
		return true;
	collation = get_typcollation(type->base);
	value = makeNode(Param);
	value->paramkind = PARAM_EXEC;
	value->paramtype = type->base;
	value->paramtypmod = from;
	value->paramcollid = collation;
	fitting = (Node *) makeFuncExpr(function, type->base, tde_base_modifier_args((Node *) value, to), collation, collation, COERCE_IMPLICIT_CAST);
	fitting = eval_const_expressions(NULL, fitting);
	while (IsA(fitting, RelabelType))
		fitting = (Node *) ((RelabelType *) fitting)->arg;
	return IsA(fitting, Param);
}

List *
tde_base_modifier_args(Node *value, int32 typmod)
{
	return list_make3(value, makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(typmod), false, true), makeBoolConst(false, false));
}

void
tde_base_require_execute(Oid function)
{
	if (!TDE_MAY_EXECUTE(function, GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
}
