/*
 * shard_conditions.c - conditions on encrypted distribution columns, such that Citus finds their shard.
 *
 * Citus looks for "column = constant".  A constant of another type it casts to the column's, and only by what is IMMUTABLE, as casts that
 * encrypt are not; of a query on one table it then believes that no shard can have the row: k = 2 and pan = $1 found nothing, and an
 * UPDATE crashed (Citus 13.2).  So before Citus sees the query, a constant of the base type, or what the parameter's value makes one, is
 * encrypted as a literal is: deterministically, under the catalog's key, which no row is stored under.  Whatever else is compared is
 * cast, or marked, such that Citus neither takes it for a constant nor for a parameter of its own: then it asks all shards.
 *
 * It changes comparisons alone, so nothing of it is ever stored.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "citus/shard_conditions.h"
#include "citus/tables.h"
#include "server/compat.h"
#include "type/datum.h"
#include "type/inside.h"
#include "type/type.h"
#include "wallet/wallet.h"

/* A mutator's context. */
typedef struct Conditions
{
	List	   *range_table;
	PlannerInfo *root;			/* what eval_const_expressions() takes values of parameters from */
} Conditions;

/* ---- what is compared ---- */

/* Returns the column's type, if this is an encrypted distribution column of the query; NULL otherwise. */
static TdeType *
distribution_column(Node *node, const Conditions *conditions)
{
	Var		   *var = (Var *) node;
	const TdeDistribution *table;

	if (node == NULL || !IsA(node, Var) || var->varlevelsup != 0 || var->varno > list_length(conditions->range_table))
		return NULL;
	table = tde_distribution_of(rt_fetch(var->varno, conditions->range_table));
	return table && table->column == var->varattno ? tde_type_find(var->vartype) : NULL;
}

/* Returns true if a value of this type means the same as one of the column's base type; varchar has the operators of text. */
static bool
is_of_base_type(Oid type, TdeType *column)
{
	return type == column->base || (column->base == VARCHAROID && type == TEXTOID);
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static int64
integer_value(const Const *value)
{
	if (value->consttype == INT2OID)
		return DatumGetInt16(value->constvalue);
	return value->consttype == INT4OID ? DatumGetInt32(value->constvalue) : DatumGetInt64(value->constvalue);
}

/* Returns the same number as an integer of another type; NULL if it is too large for that, and so equal to no value of the column. */
static Node *
integer_of_type(const Const *value, Oid type)
{
	int64		number = integer_value(value);

	if (type == INT8OID)
		return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(number), false, FLOAT8PASSBYVAL);
	if (type == INT4OID && number >= PG_INT32_MIN && number <= PG_INT32_MAX)
		return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum((int32) number), false, true);
	if (type == INT2OID && number >= PG_INT16_MIN && number <= PG_INT16_MAX)
		return (Node *) makeConst(INT2OID, -1, InvalidOid, sizeof(int16), Int16GetDatum((int16) number), false, true);
	return NULL;
}

/* Evaluates it as far as it is the same for the whole query. */
static Node *
evaluated(Node *node, const Conditions *conditions)
{
	return contain_var_clause(node) || contain_agg_clause(node) ? node : eval_const_expressions(conditions->root, node);
}

/*
 * Returns the value, encrypted.  The cast is explicit, whoever wrote it: Citus looks through implicit ones.  A constant comes out as one, unless the
 * wallet is closed, which whoever evaluates it will tell.
 */
static Node *
encrypted_value(Node *value, TdeType *type, const Conditions *conditions)
{
	Node	   *cast = coerce_to_target_type(NULL, value, exprType(value), type->oid, -1, COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);

	return cast ? evaluated(cast, conditions) : NULL;
}

/* Returns the same value, not to be taken for one that Citus can cast; NULL: it is not. */
static Node *
unknown_value(Node *value)
{
	Node	   *seen = strip_implicit_coercions(value);

	if (!IsA(seen, Const) && !IsA(seen, Param))
		return NULL;
	return (Node *) makeRelabelType((Expr *) value, exprType(value), exprTypmod(value), exprCollation(value), COERCE_EXPLICIT_CAST);
}

/* Returns the value as one of the column's base type, if it is equal to the same values then; NULL otherwise. */
static Node *
base_value(Node *value, TdeType *type, const Conditions *conditions)
{
	if (is_of_base_type(exprType(value), type))
		return value;
	if (!is_integer(exprType(value)))
		return NULL;
	if (type->base == NUMERICOID)
		return coerce_to_target_type(NULL, value, exprType(value), NUMERICOID, -1, COERCION_IMPLICIT, COERCE_EXPLICIT_CAST, -1);
	value = evaluated(value, conditions);
	if (!is_integer(type->base) || !IsA(value, Const) || ((Const *) value)->constisnull)
		return NULL;
	return integer_of_type((Const *) value, type->base);
}

/* ---- comparisons ---- */

/* Returns what Citus takes an operand for: it looks through implicit casts, those that decrypt included. */
static Node *
seen_operand(Node *node)
{
	node = strip_implicit_coercions(node);
	while (IsA(node, RelabelType) && tde_type_find(((RelabelType *) node)->resulttype))
		node = strip_implicit_coercions((Node *) ((RelabelType *) node)->arg);
	return node;
}

/* Returns column = value with the value encrypted, the column at 0 or 1 of the operands; NULL: it stays as it is. */
static Node *
compare_column(OpExpr *op, int column_at, TdeType *type, const Conditions *conditions)
{
	Node	   *column = list_nth(op->args, column_at);
	Node	   *value = list_nth(op->args, 1 - column_at);
	Oid			operator = exprType(column) == type->oid ? tde_citus_own_equality(type) : InvalidOid;
	Node	   *encrypted = NULL;
	Node	   *plain;

	if (exprType(value) == type->oid || contain_var_clause(value))
		return NULL;
	plain = OidIsValid(operator) ? base_value(value, type, conditions) : NULL;
	if (plain)
		encrypted = encrypted_value(plain, type, conditions);
	value = encrypted ? encrypted : unknown_value(value);
	if (value == NULL)
		return NULL;
	op = copyObject(op);
	if (encrypted)
	{
		op->opno = operator;
		op->opfuncid = get_opcode(operator);
		column = seen_operand(column);
	}
	op->args = column_at == 0 ? list_make2(column, value) : list_make2(value, column);
	return (Node *) op;
}

/* Returns an equality in which the value is encrypted, if one of its operands is a distribution column; NULL: it stays as it is. */
static Node *
compare(OpExpr *op, const Conditions *conditions)
{
	if (list_length(op->args) != 2 || !tde_citus_is_equality(op->opno))
		return NULL;
	for (int at = 0; at < 2; at++)
	{
		TdeType    *type = distribution_column(seen_operand(list_nth(op->args, at)), conditions);

		if (type)
			return compare_column(op, at, type, conditions);
	}
	return NULL;
}

/* An array of the base type as one of encrypted literals. */
static Const *
encrypted_array(Const *array, TdeType *type)
{
	ArrayType  *plain = DatumGetArrayTypeP(array->constvalue);
	Datum	   *values;
	bool	   *nulls;
	int			count;

	deconstruct_array(plain, ARR_ELEMTYPE(plain), type->base_len, type->base_byval, type->base_align, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			values[i] = tde_datum_encrypt(type, values[i], -1);
	}
	plain = construct_md_array(values, nulls, ARR_NDIM(plain), ARR_DIMS(plain), ARR_LBOUND(plain), type->oid, -1, false, TYPALIGN_INT);
	return makeConst(get_array_type(type->oid), -1, array->constcollid, -1, PointerGetDatum(plain), false, false);
}

/* Returns column = ANY (array) with the array encrypted; NULL: it stays as it is, and Citus asks all shards. */
static Node *
compare_any(ScalarArrayOpExpr *op, const Conditions *conditions)
{
	TdeType    *type = op->useOr ? distribution_column(linitial(op->args), conditions) : NULL;
	Oid			operator = type && tde_citus_is_equality(op->opno) ? tde_citus_own_equality(type) : InvalidOid;
	Node	   *array;

	if (!OidIsValid(operator) || !is_of_base_type(get_element_type(exprType(lsecond(op->args))), type))
		return NULL;
	array = evaluated(lsecond(op->args), conditions);
	if (!IsA(array, Const) || ((Const *) array)->constisnull || !tde_wallet_ensure_open())
		return NULL;
	op = copyObject(op);
	op->opno = operator;
	op->opfuncid = get_opcode(operator);
	op->hashfuncid = op->negfuncid = InvalidOid;
	op->args = list_make2(linitial(op->args), encrypted_array((Const *) array, type));
	return (Node *) op;
}

/* An expression_tree_mutator. */
static Node *
encrypt_values(Node *node, void *context)
{
	Node	   *changed = NULL;

	CHECK_FOR_INTERRUPTS();
	/* subqueries in expressions have their turn */
	if (node == NULL || IsA(node, Query))
		return node;
	if (IsA(node, OpExpr))
		changed = compare((OpExpr *) node, context);
	else if (IsA(node, ScalarArrayOpExpr))
		changed = compare_any((ScalarArrayOpExpr *) node, context);
	return changed ? changed : expression_tree_mutator(node, encrypt_values, context);
}

/* ---- queries ---- */

static bool
has_encrypted_distribution(List *range_table)
{
	ListCell   *cell;

	foreach(cell, range_table)
		if (tde_citus_is_by_encrypted(lfirst(cell)))
			return true;
	return false;
}

/* A query_or_expression_tree_walker: each query has its own range table, so each is gone through by itself. */
static bool
prepare(Node *node, void *root)
{
	Query	   *query = (Query *) node;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, prepare, root);
	if (query->jointree && has_encrypted_distribution(query->rtable))
	{
		Conditions	conditions = {query->rtable, root};

		query->jointree = (FromExpr *) encrypt_values((Node *) query->jointree, &conditions);
		if (query->commandType == CMD_MERGE)
			TDE_MERGE_CONDITION(query) = encrypt_values(TDE_MERGE_CONDITION(query), &conditions);
		query->mergeActionList = (List *) encrypt_values((Node *) query->mergeActionList, &conditions);
		if (query->onConflict)
			query->onConflict = (OnConflictExpr *) encrypt_values((Node *) query->onConflict, &conditions);
	}
	return query_tree_walker(query, prepare, root, 0);
}

void
tde_shard_conditions(Query *query, ParamListInfo params)
{
	PlannerInfo *root = makeNode(PlannerInfo);

	root->glob = makeNode(PlannerGlobal);
	root->glob->boundParams = params;
	(void) prepare((Node *) query, root);
}
