/*
 * indexed_order.c - ORDER BY lower(email) by an index that has it encrypted; so do DISTINCT, GROUP BY, min(lower(email)), merge joins.
 *
 * The entries of such an index stand in the order of their plain values.  But the planner takes it for the order of the encrypted type, which the query
 * does not ask for.  So when it makes the paths of a table, it is told of the index once more, as of one over the query's own expression.  The query stays
 * as it is: it computes what it sorts by, and that is an error for whoever may not decrypt.
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "operators/indexed_forms.h"
#include "operators/indexed_order.h"
#include "operators/indexed_tables.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/core.h"

/* ---- indexes that tell the order of plain values ---- */

/*
 * Finds the family and type of plain values whose order a family of an encrypted type has; false: it tells none.  That is so of families without
 * order, and of users'.
 */
static bool
find_plain_order(TdeType *type, Oid family, Oid *plain_family, Oid *plain_type)
{
	Oid			pattern = tde_opclass_pattern(type);
	TypeCacheEntry *base;

	if (OidIsValid(pattern) && get_opclass_family(pattern) == family)
	{
		*plain_family = get_opclass_family(tde_opclass_base_pattern(type));
		*plain_type = get_opclass_input_type(tde_opclass_base_pattern(type));
		return true;
	}
	if (family != lookup_type_cache(type->oid, TYPECACHE_BTREE_OPFAMILY)->btree_opf)
		return false;
	base = lookup_type_cache(type->base, TYPECACHE_BTREE_OPFAMILY);
	*plain_family = base->btree_opf;
	*plain_type = base->btree_opintype;
	return OidIsValid(base->btree_opf);
}

/* A form as the planner has it of an index, whose collation is a fact of its own. */
static Node *
as_key(Node *form)
{
	form = eval_const_expressions(NULL, form);
	while (IsA(form, RelabelType))
	{
		CHECK_FOR_INTERRUPTS();
		form = (Node *) ((RelabelType *) form)->arg;
	}
	return form;
}

/*
 * Returns true if an index has this column, or expression of the one table that its Vars name, in the order of its values.  place: the varno there.
 * Changes a copy of the index's expressions.
 */
static bool
is_in_order(Relation index, Node *form, Index place)
{
	Oid			order = lookup_type_cache(exprType(form), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	List	   *expressions = RelationGetIndexExpressions(index);

	ChangeVarNodes((Node *) expressions, 1, place, 0);
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		AttrNumber	column = index->rd_index->indkey.values[i];
		bool		same = column == 0 ? equal(linitial(expressions), form) : IsA(form, Var) && ((Var *) form)->varattno == column;

		if (same && index->rd_opfamily[i] == order)
			return true;
		if (column == 0)
			expressions = list_delete_first(expressions);
	}
	return false;
}

/* Returns true if any index of the table has it so.  The wanted form gets its constants folded first, as those of an index are. */
static bool
is_indexed_in_order(Oid table, Node *form, Index place)
{
	Relation	rel = table_open(table, AccessShareLock);
	bool		found = false;
	ListCell   *cell;

	form = as_key(form);
	foreach(cell, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		CHECK_FOR_INTERRUPTS();
		found |= is_in_order(index, form, place);
		index_close(index, NoLock);
	}
	table_close(rel, NoLock);
	return found;
}

/* ---- min(lower(email)): PostgreSQL looks for no index of what a cast has decrypted, since that is STABLE, but for one of what is encrypted ---- */

/*
 * Returns what a min() or max() is of, as an index has it in order; *encrypted: the aggregate of that.  NULL: no index has it, or it is another
 * aggregate.  An aggregate with FILTER or ORDER BY is none that PostgreSQL finds by an index.
 */
static Node *
indexed_argument(const Aggref *call, const TdeUsable *usable, Oid *encrypted)
{
	char	   *name = get_func_name(call->aggfnoid);
	Node	   *form;
	Oid			type;
	int			place;

	if (name == NULL || (strcmp(name, "min") != 0 && strcmp(name, "max") != 0) || call->aggorder || call->aggfilter)
		return NULL;
	form = tde_indexed_form((Node *) linitial_node(TargetEntry, call->args)->expr, usable);
	if (form == NULL || !bms_get_singleton_member(pull_varnos(NULL, form), &place) ||
		!is_indexed_in_order(rt_fetch(place, usable->range_table)->relid, form, place))
		return NULL;
	type = exprType(form);
	*encrypted = LookupFuncName(list_make2(makeString("pg_catalog"), makeString(name)), 1, &type, true);
	return OidIsValid(*encrypted) && (call->aggfnoid == *encrypted || tde_is_core(call->aggfnoid)) ? form : NULL;
}

/* An expression_tree_walker: returns true if there is an aggregate that reads all rows anyway. */
static bool
reads_all(Node *node, void *usable)
{
	Oid			encrypted;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		return indexed_argument((Aggref *) node, usable, &encrypted) == NULL;
	return expression_tree_walker(node, reads_all, usable);
}

/* An expression_tree_mutator: of what is encrypted, and then decrypted. */
static Node *
find_by_indexes(Node *node, void *usable)
{
	Aggref	   *call;
	Node	   *form;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL || IsA(node, Query))
		return node;
	if (!IsA(node, Aggref))
		return expression_tree_mutator(node, find_by_indexes, usable);
	call = copyObject((Aggref *) node);
	form = indexed_argument(call, usable, &call->aggfnoid);
	call->aggtype = exprType(form);
	call->aggargtypes = list_make1_oid(call->aggtype);
	call->aggdistinct = NIL;
	call->args = list_make1(makeTargetEntry((Expr *) form, 1, NULL, false));
	form = coerce_to_target_type(NULL, (Node *) call, call->aggtype, exprType(node), -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1);
	exprSetCollation(form, exprCollation(node));
	exprSetInputCollation(form, call->aggcollid);
	return form;
}

void
tde_indexed_order_extremes(Query *query, const TdeUsable *usable)
{
	List	   *from = query->jointree->fromlist;

	if (query->groupClause || query->groupingSets || query->hasWindowFuncs || query->cteList || list_length(from) != 1 || !IsA(linitial(from), RangeTblRef) ||
		reads_all((Node *) query->targetList, (void *) usable) || reads_all(query->havingQual, (void *) usable))
		return;
	query->targetList = (List *) find_by_indexes((Node *) query->targetList, (void *) usable);
	query->havingQual = find_by_indexes(query->havingQual, (void *) usable);
}

/* ---- what a query may want a table's rows in the order of ---- */

/* What a query may want rows in the order of, and what an index has of it. */
typedef struct Wanted
{
	Expr	   *expr;
	Node	   *form;			/* as an index has it */
} Wanted;

/*
 * An expression_tree_mutator: COLLATE as it stood in the query; the planner has put a change of the type's name in its place, by which no form would
 * be found.
 */
static Node *
with_collations(Node *node, void *context)
{
	RelabelType *relabel;
	CollateExpr *collate;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return NULL;
	node = expression_tree_mutator(node, with_collations, context);
	relabel = (RelabelType *) node;
	if (!IsA(node, RelabelType) || relabel->resulttype != exprType((Node *) relabel->arg))
		return node;
	collate = makeNode(CollateExpr);
	collate->arg = relabel->arg;
	collate->collOid = relabel->resultcollid;
	collate->location = -1;
	return (Node *) collate;
}

/*
 * What this table's rows may be wanted in the order of, of an equivalence class: whatever PostgreSQL may sort by is a member of one.  Of a partition,
 * its parent's members are taken, and translated.
 */
static List *
wanted_of_class(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *class, const TdeUsable *usable)
{
	Relids		tables = rel->top_parent_relids ? rel->top_parent_relids : rel->relids;
	List	   *all = NIL;
	ListCell   *cell;

	foreach(cell, class->ec_members)
	{
		EquivalenceMember *member = lfirst(cell);
		Wanted	   *wanted = palloc(sizeof(Wanted));

		CHECK_FOR_INTERRUPTS();
		if (member->em_is_child || member->em_is_const || !bms_equal(member->em_relids, tables))
			continue;
		wanted->expr = rel->top_parent_relids ? (Expr *) TDE_OF_CHILD(root, (Node *) member->em_expr, rel) : member->em_expr;
		wanted->form = tde_indexed_form(with_collations((Node *) wanted->expr, NULL), usable);
		if (wanted->form == NULL)
			continue;
		wanted->form = as_key(wanted->form);
		all = lappend(all, wanted);
	}
	return all;
}

static List *
all_wanted(PlannerInfo *root, RelOptInfo *rel, const TdeUsable *usable)
{
	List	   *all = NIL;
	ListCell   *cell;

	foreach(cell, root->eq_classes)
		if (!lfirst_node(EquivalenceClass, cell)->ec_has_volatile)
			all = list_concat(all, wanted_of_class(root, rel, lfirst(cell), usable));
	return all;
}

/* ---- an index under another name ---- */

/* What the planner looks at while it makes paths: a copy of an index's node, under another name.  The paths are given the index's own then. */
typedef struct Renamed
{
	IndexOptInfo info;			/* the first, so that a pointer to it is one to the whole */
	IndexOptInfo *index;
} Renamed;

/*
 * An amcostestimate_function: it is the first to see a new path.  It puts the index itself in place of the copy, and asks the index's own function.
 * Nobody else is to see the copy.
 */
static void
estimate(PlannerInfo *root, IndexPath *path, double loops, Cost *startup, Cost *total, Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *index = ((Renamed *) path->indexinfo)->index;

	path->indexinfo = index;
	((amcostestimate_function) index->amcostestimate) (root, path, loops, startup, total, selectivity, correlation, pages);
}

/*
 * Names one column of the copy as the query does, if it is one of those wanted and the index itself does not have that.  Returns true if it was
 * renamed.
 */
static bool
rename_column(Renamed *alias, int column, List *all)
{
	TargetEntry *entry = list_nth_node(TargetEntry, alias->info.indextlist, column);
	Oid			family;
	Oid			plain;
	ListCell   *cell;

	foreach(cell, all)
	{
		Wanted	   *wanted = lfirst(cell);
		TdeType    *type;

		CHECK_FOR_INTERRUPTS();
		if (!equal(wanted->form, entry->expr) || equal(wanted->expr, entry->expr))
			continue;
		type = tde_type_find(exprType((Node *) entry->expr));
		if (type == NULL || !find_plain_order(type, alias->index->opfamily[column], &family, &plain))
			return false;
		/* coalesce(name, 'x') is encrypted, but otherwise than the index has it */
		if (!tde_type_find(exprType((Node *) wanted->expr)))
		{
			alias->info.sortopfamily[column] = family;
			alias->info.opcintype[column] = plain;
		}
		entry->expr = wanted->expr;
		return true;
	}
	return false;
}

/* A copy of an index's node that has what the query wants; NULL: nobody wants its order.  Only btree has one. */
static IndexOptInfo *
alias_of(IndexOptInfo *index, List *wanted)
{
	Size		size = index->nkeycolumns * sizeof(Oid);
	Renamed    *alias = palloc(sizeof(Renamed));
	bool		renamed = false;

	if (index->relam != BTREE_AM_OID)
		return NULL;
	*alias = (Renamed) {*index, index};
	alias->info.amcostestimate = estimate;
	alias->info.amhasgetbitmap = false; /* which has no order */
	alias->info.indextlist = copyObject(index->indextlist);
	alias->info.sortopfamily = memcpy(palloc(size), index->sortopfamily, size);
	alias->info.opcintype = memcpy(palloc(size), index->opcintype, size);
	for (int i = 0; i < index->nkeycolumns; i++)
		renamed |= rename_column(alias, i, wanted);
	return renamed ? &alias->info : NULL;
}

static List *
aliases_of(List *indexes, List *wanted)
{
	List	   *aliases = NIL;
	ListCell   *cell;

	foreach(cell, indexes)
	{
		IndexOptInfo *alias = alias_of(lfirst(cell), wanted);

		CHECK_FOR_INTERRUPTS();
		if (alias)
			aliases = lappend(aliases, alias);
	}
	return aliases;
}

/* ---- paths ---- */

/*
 * Makes paths of the copies alone, by setting them in place of the table's indexes meanwhile.  The indexes' own paths have been made by PostgreSQL
 * before.
 */
static void
add_paths(PlannerInfo *root, RelOptInfo *rel, Oid table)
{
	TdeUsable	usable = {.range_table = root->parse->rtable, .computed = list_make1_oid(table)};
	List	   *indexes = rel->indexlist;
	List	   *aliases = aliases_of(indexes, all_wanted(root, rel, &usable));

	/* an aggregate may use the order without computing what it is of: the plan is for those only who may see it */
	if (aliases == NIL || !tde_access_is_permitted())
		return;
	root->glob->dependsOnRole |= tde_access_restricted;
	rel->indexlist = aliases;
	create_index_paths(root, rel);
	rel->indexlist = indexes;
}

void
tde_indexed_order_paths(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *entry)
{
	if (tde_may_have_indexes(entry) && tde_indexed_table(entry->relid) && !entry->inh && !entry->tablesample && rel->indexlist != NIL &&
		root->eq_classes != NIL && !IS_DUMMY_REL(rel))
		add_paths(root, rel, entry->relid);
}
