/*
 * tde_walk.c - encrypted values wherever they are: inside arrays, domains, composites, ranges, and constants of expressions.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

#include "tde_compat.h"
#include "tde_walk.h"

/* ---- types ---- */

static bool
row_holds_encrypted(Oid type)
{
	TupleDesc	columns = lookup_rowtype_tupdesc(type, -1);
	bool		found = false;

	for (int i = 0; i < columns->natts && !found; i++)
		found = !TupleDescAttr(columns, i)->attisdropped && tde_type_holds_encrypted(TupleDescAttr(columns, i)->atttypid);
	ReleaseTupleDesc(columns);
	return found;
}

bool
tde_type_holds_encrypted(Oid type)
{
	Oid			base = getBaseType(type);
	Oid			element = get_element_type(base);

	check_stack_depth();
	if (OidIsValid(element))
		return tde_type_holds_encrypted(element);
	switch (get_typtype(base))
	{
		case TYPTYPE_BASE:
			return tde_type_find(base) != NULL;
		case TYPTYPE_RANGE:
			return tde_type_holds_encrypted(get_range_subtype(base));
		case TYPTYPE_MULTIRANGE:
			return tde_type_holds_encrypted(get_range_subtype(get_multirange_range(base)));
		case TYPTYPE_COMPOSITE:
			return row_holds_encrypted(base);
		default:
			return false;
	}
}

/* ---- datums ---- */

static void
walk_value(Datum value, TdeHeaderVisitor visit, void *arg)
{
	struct varlena *head = (struct varlena *) DatumGetPointer(value);
	Size		size = toast_raw_datum_size(value) - VARHDRSZ;
	TdeHeader	header;
	bool		good;

	/* a header is not longer than this, and whether the value is long enough for its spec, its size tells */
	if (VARATT_IS_EXTERNAL(head) || VARATT_IS_COMPRESSED(head))
		head = detoast_attr_slice(head, 0, TDE_MAX_HEADER);
	good = tde_header_parse((const uint8 *) VARDATA_ANY(head), size, &header);
	visit(good ? &header : NULL, arg);
}

static void
walk_array(Datum value, TdeHeaderVisitor visit, void *arg)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Oid			element = ARR_ELEMTYPE(array);
	int16		len;
	bool		byval;
	char		align;
	Datum	   *elements;
	bool	   *nulls;
	int			count;

	if (!tde_type_holds_encrypted(element))
		return;
	get_typlenbyvalalign(element, &len, &byval, &align);
	deconstruct_array(array, element, len, byval, align, &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
		if (!nulls[i])
			tde_walk_datum(element, elements[i], visit, arg);
}

static void
walk_row(Datum value, TdeHeaderVisitor visit, void *arg)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(value);
	TupleDesc	columns = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));
	Datum	   *values = palloc(columns->natts * sizeof(Datum));
	bool	   *nulls = palloc(columns->natts * sizeof(bool));
	HeapTupleData tuple;

	memset(&tuple, 0, sizeof(tuple));
	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	tuple.t_data = row;
	heap_deform_tuple(&tuple, columns, values, nulls);
	for (int i = 0; i < columns->natts; i++)
		if (!nulls[i] && !TupleDescAttr(columns, i)->attisdropped)
			tde_walk_datum(TupleDescAttr(columns, i)->atttypid, values[i], visit, arg);
	ReleaseTupleDesc(columns);
}

static void
walk_bound(Oid type, const RangeBound *bound, TdeHeaderVisitor visit, void *arg)
{
	if (!bound->infinite)
		tde_walk_datum(type, bound->val, visit, arg);
}

static void
walk_range(TypeCacheEntry *range_type, RangeType *range, TdeHeaderVisitor visit, void *arg)
{
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;

	range_deserialize(range_type, range, &lower, &upper, &empty);
	if (empty)
		return;
	walk_bound(range_type->rngelemtype->type_id, &lower, visit, arg);
	walk_bound(range_type->rngelemtype->type_id, &upper, visit, arg);
}

static void
walk_multirange(Oid type, Datum value, TdeHeaderVisitor visit, void *arg)
{
	TypeCacheEntry *range_type = lookup_type_cache(get_multirange_range(type), TYPECACHE_RANGE_INFO);
	RangeType **ranges;
	int32		count;

	multirange_deserialize(range_type, DatumGetMultirangeTypeP(value), &count, &ranges);
	for (int i = 0; i < count; i++)
		walk_range(range_type, ranges[i], visit, arg);
}

void
tde_walk_datum(Oid type, Datum value, TdeHeaderVisitor visit, void *arg)
{
	check_stack_depth();
	if (tde_type_find(type))
	{
		walk_value(value, visit, arg);
		return;
	}
	if (type == ANYARRAYOID || OidIsValid(get_element_type(type)))
	{
		walk_array(value, visit, arg);
		return;
	}
	switch (get_typtype(type))
	{
		case TYPTYPE_DOMAIN:
			tde_walk_datum(getBaseType(type), value, visit, arg);
			break;
		case TYPTYPE_COMPOSITE:
			walk_row(value, visit, arg);
			break;
		case TYPTYPE_RANGE:
			walk_range(lookup_type_cache(type, TYPECACHE_RANGE_INFO), DatumGetRangeTypeP(value), visit, arg);
			break;
		case TYPTYPE_MULTIRANGE:
			walk_multirange(type, value, visit, arg);
			break;
	}
}

/* ---- expressions ---- */

typedef struct TreeWalk
{
	TdeHeaderVisitor visit;
	void	   *arg;
} TreeWalk;

static bool
walk_node(Node *node, void *context)
{
	TreeWalk   *walk = context;

	if (node == NULL)
		return false;
	if (IsA(node, Const))
	{
		Const	   *constant = (Const *) node;

		if (!constant->constisnull && tde_type_holds_encrypted(constant->consttype))
			tde_walk_datum(constant->consttype, constant->constvalue, walk->visit, walk->arg);
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, walk_node, context, 0);
	/* the server's walker does not know these two */
	if (IsA(node, PartitionBoundSpec))
	{
		PartitionBoundSpec *bound = (PartitionBoundSpec *) node;

		return walk_node((Node *) bound->listdatums, context) || walk_node((Node *) bound->lowerdatums, context) ||
			walk_node((Node *) bound->upperdatums, context);
	}
	if (IsA(node, PartitionRangeDatum))
		return walk_node(((PartitionRangeDatum *) node)->value, context);
	return expression_tree_walker(node, walk_node, context);
}

void
tde_walk_tree(Node *tree, TdeHeaderVisitor visit, void *arg)
{
	TreeWalk	walk = {visit, arg};

	walk_node(tree, &walk);
}
