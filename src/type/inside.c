/*
 * inside.c - encrypted values wherever they are: inside arrays, domains, composites and ranges, and in constants of expressions.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "server/compat.h"
#include "type/core.h"
#include "type/datum.h"
#include "type/inside.h"

/* ---- within a column's value: itself, or elements of arrays, members of composites and bounds of ranges, to any depth, under domains or not ---- */

typedef enum InsideKind
{
	INSIDE_VALUE,
	INSIDE_ARRAY,
	INSIDE_COMPOSITE,
	INSIDE_RANGE,
	INSIDE_MULTIRANGE
} InsideKind;

struct TdeInside
{
	InsideKind	kind;
	Oid			oid;			/* of an array its element's type, otherwise the type's, without domains */
	TdeType    *type;			/* INSIDE_VALUE */
	int32		typmod;			/* likewise */
	bool		holds_plain;	/* some part, to any depth, is not encrypted */
	int			count;			/* of parts: 1, or a composite's columns */
	TdeInside **parts;			/* NULL where there is nothing encrypted */
};

static TdeInside *
new_inside(InsideKind kind, Oid oid, int count)
{
	TdeInside  *inside = palloc0(sizeof(TdeInside));

	inside->kind = kind;
	inside->oid = oid;
	inside->count = count;
	inside->parts = count > 0 ? palloc0(count * sizeof(TdeInside *)) : NULL;
	return inside;
}

/* ---- what a type holds ---- */

static TdeInside *
with_part(InsideKind kind, Oid oid, TdeInside *part)
{
	TdeInside  *inside;

	if (part == NULL)
		return NULL;
	inside = new_inside(kind, oid, 1);
	inside->parts[0] = part;
	inside->holds_plain = part->holds_plain;
	return inside;
}

static TdeInside *find_inside(Oid type, int32 typmod, HTAB *known);

/* A composite type's members may be of composite types that others are made of, too: each is looked at once. */
typedef struct KnownComposite
{
	Oid			type;			/* the key */
	TdeInside  *inside;			/* NULL: there is nothing encrypted in it */
} KnownComposite;

static TdeInside *
find_in_fields(TupleDesc desc, HTAB *known)
{
	TdeInside  *inside = new_inside(INSIDE_COMPOSITE, desc->tdtypeid, desc->natts);
	bool		any = false;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute member = TupleDescAttr(desc, i);

		if (!member->attisdropped)
			inside->parts[i] = find_inside(member->atttypid, member->atttypmod, known);
		any |= inside->parts[i] != NULL;
		inside->holds_plain |= inside->parts[i] == NULL || inside->parts[i]->holds_plain;
	}
	return any ? inside : NULL;
}

/* known: as for find_inside().  A type that occurs in several places is looked at once; types within types would take exponential time otherwise. */
static TdeInside *
find_in_composite(Oid type, HTAB *known)
{
	HASHCTL		info = {.keysize = sizeof(Oid), .entrysize = sizeof(KnownComposite), .hcxt = CurrentMemoryContext};
	HTAB	   *all = known ? known : hash_create("tde_column composite types", 16, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	KnownComposite *composite = hash_search(all, &type, HASH_FIND, NULL);
	TupleDesc	desc;
	TdeInside  *inside;

	if (composite)
		return composite->inside;
	desc = lookup_rowtype_tupdesc(type, -1);
	inside = find_in_fields(desc, all);
	ReleaseTupleDesc(desc);
	((KnownComposite *) hash_search(all, &type, HASH_ENTER, NULL))->inside = inside;
	if (known == NULL)
		hash_destroy(all);
	return inside;
}

/* known: the composite types that were looked at before; NULL: none were. */
static TdeInside *
find_inside(Oid type, int32 typmod, HTAB *known)
{
	TdeType    *encrypted;
	TdeInside  *inside;
	Oid			element;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	type = getBaseTypeAndTypmod(type, &typmod);
	encrypted = tde_type_find(type);
	if (encrypted)
	{
		inside = new_inside(INSIDE_VALUE, type, 0);
		inside->type = encrypted;
		inside->typmod = typmod;
		return inside;
	}
	element = get_element_type(type);
	if (OidIsValid(element))
		return with_part(INSIDE_ARRAY, element, find_inside(element, typmod, known));
	switch (get_typtype(type))
	{
		case TYPTYPE_COMPOSITE:
			return find_in_composite(type, known);
		case TYPTYPE_RANGE:
			return with_part(INSIDE_RANGE, type, find_inside(get_range_subtype(type), -1, known));
		case TYPTYPE_MULTIRANGE:
			return with_part(INSIDE_MULTIRANGE, type, find_inside(get_multirange_range(type), -1, known));
		default:
			return NULL;
	}
}

TdeInside *
tde_inside_find(Oid type, int32 typmod)
{
	return find_inside(type, typmod, NULL);
}

TdeInside *
tde_inside_find_fields(TupleDesc fields)
{
	return find_in_fields(fields, NULL);
}

bool
tde_inside_any(const TdeInside *inside, bool (*test) (TdeType *type, int32 typmod))
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (inside->kind == INSIDE_VALUE)
		return test(inside->type, inside->typmod);
	for (int i = 0; i < inside->count; i++)
		if (inside->parts[i] && tde_inside_any(inside->parts[i], test))
			return true;
	return false;
}

/* ---- values ---- */

/* Replaces one part; returns true if it has become another one. */
static bool
replace_part(const TdeInside *part, Datum *value, TdeInsideChange change, void *arg)
{
	Datum		before = *value;

	*value = tde_inside_replace(part, before, change, arg);
	return *value != before;
}

static Datum
replace_in_array(const TdeInside *inside, Datum value, TdeInsideChange change, void *arg)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int16		length;
	bool		by_value;
	char		align;
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	bool		changed = false;

	get_typlenbyvalalign(inside->oid, &length, &by_value, &align);
	deconstruct_array(array, inside->oid, length, by_value, align, &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			changed |= replace_part(inside->parts[0], &elements[i], change, arg);
	}
	if (!changed)
		return value;
	return PointerGetDatum(construct_md_array(elements, nulls, ARR_NDIM(array), ARR_DIMS(array), ARR_LBOUND(array),
											  inside->oid, length, by_value, align));
}

static Datum
replace_in_composite(const TdeInside *inside, Datum value, TdeInsideChange change, void *arg)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *nulls = palloc(desc->natts * sizeof(bool));
	HeapTupleData tuple;
	bool		changed = false;

	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = header;
	heap_deform_tuple(&tuple, desc, values, nulls);
	for (int i = 0; i < Min(inside->count, desc->natts); i++)
		if (inside->parts[i] && !nulls[i])
			changed |= replace_part(inside->parts[i], &values[i], change, arg);
	if (changed)
		value = HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
	ReleaseTupleDesc(desc);
	return value;
}

/* NULL if nothing has changed */
static RangeType *
replace_in_range(const TdeInside *inside, RangeType *range, TdeInsideChange change, void *arg)
{
	TypeCacheEntry *cache = lookup_type_cache(inside->oid, TYPECACHE_RANGE_INFO);
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;
	bool		changed = false;

	range_deserialize(cache, range, &lower, &upper, &empty);
	if (!empty && !lower.infinite)
		changed |= replace_part(inside->parts[0], &lower.val, change, arg);
	if (!empty && !upper.infinite)
		changed |= replace_part(inside->parts[0], &upper.val, change, arg);
	return changed ? TDE_RANGE_SERIALIZE(cache, &lower, &upper, empty) : NULL;
}

static Datum
replace_in_multirange(const TdeInside *inside, Datum value, TdeInsideChange change, void *arg)
{
	TypeCacheEntry *cache = lookup_type_cache(inside->parts[0]->oid, TYPECACHE_RANGE_INFO);
	RangeType **ranges;
	int32		count;
	bool		changed = false;

	multirange_deserialize(cache, DatumGetMultirangeTypeP(value), &count, &ranges);
	for (int i = 0; i < count; i++)
	{
		RangeType  *replaced = replace_in_range(inside->parts[0], ranges[i], change, arg);

		if (replaced)
			ranges[i] = replaced;
		changed |= replaced != NULL;
	}
	return changed ? MultirangeTypePGetDatum(make_multirange(inside->oid, cache, count, ranges)) : value;
}

Datum
tde_inside_replace(const TdeInside *inside, Datum value, TdeInsideChange change, void *arg)
{
	RangeType  *range;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (inside->kind)
	{
		case INSIDE_VALUE:
			return change(inside->type, value, inside->typmod, arg);
		case INSIDE_ARRAY:
			return replace_in_array(inside, value, change, arg);
		case INSIDE_COMPOSITE:
			return replace_in_composite(inside, value, change, arg);
		case INSIDE_RANGE:
			range = replace_in_range(inside, DatumGetRangeTypeP(value), change, arg);
			return range ? RangeTypePGetDatum(range) : value;
		case INSIDE_MULTIRANGE:
			return replace_in_multirange(inside, value, change, arg);
	}
	pg_unreachable();
}

/* ---- in data and expressions ---- */

bool
tde_type_holds_encrypted(Oid type)
{
	return tde_inside_find(type, -1) != NULL;
}

bool
tde_type_holds_plain(Oid type)
{
	TdeInside  *inside = tde_inside_find(type, -1);

	return inside == NULL || inside->holds_plain;
}

typedef struct HeaderWalk
{
	TdeHeaderVisitor visit;
	void	   *arg;
} HeaderWalk;

static void
walk_value(Datum value, TdeHeaderVisitor visit, void *arg)
{
	TdeHeader	header;

	visit(tde_datum_header(value, &header) ? &header : NULL, arg);
}

/* As if to change it. */
static Datum
walk_inside(TdeType *type, Datum value, int32 declared, void *arg)
{
	HeaderWalk *walk = arg;

	walk_value(value, walk->visit, walk->arg);
	return value;
}

void
tde_inside_headers_of_datum(Oid type, Datum value, TdeHeaderVisitor visit, void *arg)
{
	HeaderWalk	walk = {visit, arg};
	TdeInside  *inside;

	/* mostly it is one, and there are many */
	if (tde_type_find(type))
	{
		walk_value(value, visit, arg);
		return;
	}
	if (type == ANYARRAYOID)
		type = get_array_type(ARR_ELEMTYPE(DatumGetArrayTypeP(value)));
	/* an element without an array type is not ours */
	inside = OidIsValid(type) ? tde_inside_find(type, -1) : NULL;
	if (inside)
		(void) tde_inside_replace(inside, value, walk_inside, &walk);
}

static bool
walk_node(Node *node, void *context)
{
	HeaderWalk *walk = context;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Const))
	{
		Const	   *constant = (Const *) node;

		if (!constant->constisnull && tde_type_holds_encrypted(constant->consttype))
			tde_inside_headers_of_datum(constant->consttype, constant->constvalue, walk->visit, walk->arg);
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
tde_inside_headers_of_tree(Node *tree, TdeHeaderVisitor visit, void *arg)
{
	HeaderWalk	walk = {visit, arg};

	walk_node(tree, &walk);
}

/* Returns the plain type that an encrypted type, or an array of it, stands for, with its typmod; any other type itself. */
static Oid
plain_type(Oid oid, int32 *typmod)
{
	Oid			element = get_element_type(oid);
	TdeType    *type = tde_type_find(OidIsValid(element) ? element : oid);

	if (type == NULL)
		return oid;
	*typmod = tde_type_base_typmod(type, *typmod);
	return OidIsValid(element) ? get_array_type(type->base) : type->base;
}

static bool
is_taken(Oid type, int32 typmod, Oid wanted, int32 wanted_typmod)
{
	return type == wanted && (wanted_typmod < 0 || typmod == wanted_typmod);
}

bool
tde_inside_differs(Oid type, int32 typmod, Oid wanted, int32 wanted_typmod)
{
	if (is_taken(type, typmod, wanted, wanted_typmod))
		return false;
	type = plain_type(type, &typmod);
	wanted = plain_type(wanted, &wanted_typmod);
	return is_taken(type, typmod, wanted, wanted_typmod);
}

bool
tde_inside_is_base_operator(Oid operator)
{
	Oid			family;
	Oid			left;
	Oid			right;

	if (tde_is_core(operator))
		return true;
	/* that of an encrypted type or a user's type; <> is in no family */
	op_input_types(operator, &left, &right);
	family = lookup_type_cache(left, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	if (OidIsValid(family) && (op_in_opfamily(operator, family) || op_in_opfamily(get_negator(operator), family)))
		return true;
	/* last, since this alone is in no cache */
	return tde_core_is_member(OperatorRelationId, operator);
}

Plan *
tde_inside_projection_above(Plan *plan)
{
	Result	   *result = makeNode(Result);
	ListCell   *cell;

	result->plan.startup_cost = plan->startup_cost;
	result->plan.total_cost = plan->total_cost;
	result->plan.plan_rows = plan->plan_rows;
	result->plan.plan_width = plan->plan_width;
	result->plan.plan_node_id = plan->plan_node_id; /* what is counted by it is so in parallel workers, where no row is written */
	result->plan.extParam = bms_copy(plan->extParam);
	result->plan.allParam = bms_copy(plan->allParam);
	result->plan.lefttree = plan;
	foreach(cell, plan->targetlist)
	{
		TargetEntry *entry = flatCopyTargetEntry(lfirst_node(TargetEntry, cell));

		entry->expr = (Expr *) makeVarFromTargetEntry(OUTER_VAR, entry);
		result->plan.targetlist = lappend(result->plan.targetlist, entry);
	}
	return &result->plan;
}
