/*
 * index_order.c - indexes of columns that are declared unordered.
 *
 * Neither a constraint nor a dump of one names an operator class: PostgreSQL takes the type's default one, which tells the order of values.  So
 * the class is put in where all ways to make an index meet, after its rows in the catalogs are made and before it is built: CREATE INDEX, a
 * constraint of CREATE TABLE and ALTER TABLE, ALTER COLUMN TYPE, which makes indexes again, a partition's, pg_upgrade's.  There an index of GIN
 * gets its salt, too (index_salt.c).
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "ddl/index_order.h"
#include "ddl/index_salt.h"
#include "operators/blind.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "type/inside.h"

/* ---- which columns are to tell no order ---- */

/* Returns true if values of this declared type, or parts of them, are declared unordered. */
static bool
is_unordered(Oid declared, int32 typmod)
{
	TdeInside  *inside = tde_inside_find(declared, typmod);

	return inside && tde_inside_any(inside, tde_type_tells_no_order);
}

/* An expression_tree_walker.  Returns true if an expression reads a column like that, whatever it makes of it. */
static bool
reads_unordered(Node *expr, void *arg)
{
	CHECK_FOR_INTERRUPTS();
	if (expr == NULL)
		return false;
	if (IsA(expr, Var) && is_unordered(((Var *) expr)->vartype, ((Var *) expr)->vartypmod))
		return true;
	return expression_tree_walker(expr, reads_unordered, arg);
}

/* ---- an index ---- */

/* An index whose row in pg_index is being looked at.  form and classes point into a copy of the row. */
typedef struct NewIndex
{
	Oid			relid;
	Oid			method;			/* access method */
	char	   *name;			/* the relation's own */
	Form_pg_index form;
	oidvector  *classes;		/* of the key columns; choose_classes() changes them in place */
	List	   *expressions;	/* those that are still to come */
	int			changed;		/* how many classes were changed */
} NewIndex;

/* column: its number in the table; 0: it is an expression. */
pg_noreturn static void
refuse(const NewIndex *index, AttrNumber column)
{
	const char *name = column > 0 ? get_attname(index->form->indrelid, column, false) : NULL;

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 name ? errmsg("index \"%s\" would tell the order of column \"%s\"", index->name, name) :
			 errmsg("index \"%s\" would tell the order of an expression's values", index->name),
			 errdetail("The column is declared unordered: files are not to tell the order of its values."),
			 errhint("A btree index without operator class or a hash index serves =.  For others give the column an ordered type first: "
					 "ALTER TABLE ... ALTER COLUMN ... TYPE, with the modifier ordered.")));
}

/*
 * Returns true if entries of such an index stand in the order of values; those of PostgreSQL's class of GIN for arrays are elements, and stand so.
 * What hash and bloom indexes and our classes of GIN hold are hashes, and BRIN's values are no row's.
 */
static bool
stands_in_order(Oid method, Oid class)
{
	return method == BTREE_AM_OID || (method == GIN_AM_OID && !tde_blind_is_class(class)) || method == GIST_AM_OID || method == SPGIST_AM_OID;
}

/*
 * Returns the class for a column in place of the one that it has; the same if that is good.  Throws where the index would tell an order and no other
 * class can take its place.  To be called for one column after the other, since expressions are taken off the list.
 */
static Oid
wanted_class(NewIndex *index, AttrNumber column, Oid had)
{
	Node	   *expr = column == 0 ? linitial(index->expressions) : NULL;
	Oid			declared = expr ? exprType(expr) : InvalidOid;
	int32		typmod;
	Oid			collation;
	TdeType    *type;
	Oid			unordered;

	/* a system column is none of ours */
	if (column < 0)
		return had;
	if (column > 0)
		get_atttypetypmodcoll(index->form->indrelid, column, &declared, &typmod, &collation);
	else
		index->expressions = list_delete_first(index->expressions);
	if (expr ? !reads_unordered(expr, NULL) : !is_unordered(declared, typmod))
		return had;
	type = tde_type_find(getBaseType(declared));
	/* what an expression gives in clear is for others to warn of (ddl/plaintext_guard.c) */
	if (expr && type == NULL && !tde_type_holds_encrypted(declared))
		return had;
	if (!stands_in_order(index->method, had))
		return had;
	unordered = type && index->method == BTREE_AM_OID ? tde_opclass_unordered(type) : InvalidOid;
	if (!OidIsValid(unordered) || (had != unordered && had != GetDefaultOpClass(type->oid, BTREE_AM_OID)))
		refuse(index, column);
	return unordered;
}

/* Puts the wanted classes into the copy of the row.  INCLUDE columns have no class. */
static void
choose_classes(NewIndex *index)
{
	for (int i = 0; i < index->form->indnkeyatts; i++)
	{
		Oid			wanted = wanted_class(index, index->form->indkey.values[i], index->classes->values[i]);

		if (wanted == index->classes->values[i])
			continue;
		index->classes->values[i] = wanted;
		index->changed++;
	}
}

/* ---- its row, which the command itself has just made ---- */

/* Returns a copy of the index's row; NULL if there is none.  SnapshotSelf sees what no later command has seen yet. */
static HeapTuple
read_row(Relation catalog, Oid relid)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	ScanKeyInit(&key, Anum_pg_index_indexrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, IndexRelidIndexId, true, SnapshotSelf, 1, &key);
	row = systable_getnext(scan);
	if (row)
		row = heap_copytuple(row);
	systable_endscan(scan);
	return row;
}

/* Writes the row with the classes that were chosen, and has the index depend on them. */
static void
write_row(Relation catalog, HeapTuple row, const NewIndex *index)
{
	ObjectAddress myself;
	ObjectAddress class;

	/* the row is there from now on, and may be changed */
	CommandCounterIncrement();
	CatalogTupleUpdate(catalog, &row->t_self, row);
	ObjectAddressSet(myself, RelationRelationId, index->relid);
	for (int i = 0; i < index->form->indnkeyatts; i++)
	{
		ObjectAddressSet(class, OperatorClassRelationId, index->classes->values[i]);
		recordDependencyOn(&myself, &class, DEPENDENCY_NORMAL);
	}
}

/*
 * Have PostgreSQL read the index anew when the next command begins, which is before it is built: it knows the former class by now.  Of an index
 * that is in use it would read no more than what can change, unless it has yet to read what an index has (RelationReloadIndexInfo()).
 */
static void
forget_read(Relation rel)
{
	if (rel->rd_indexcxt == NULL)
		return;
	MemoryContextDelete(rel->rd_indexcxt);
	rel->rd_indexcxt = NULL;
}

/*
 * Fails if there is an index already that stands in the order of values.  ALTER COLUMN TYPE keeps the file of an index whose definition stays the
 * same; that it never does so here is what this asserts.
 */
static void
require_empty(Relation rel)
{
	if (rel->rd_rel->relkind == RELKIND_INDEX && RelationGetNumberOfBlocks(rel) > 0)
		elog(ERROR, "index \"%s\" keeps the file of an ordered one", RelationGetRelationName(rel));
}

/* An index that was made, and maybe built, without us cannot be mended any more: the command is refused. */
static void
require_right(Relation rel, const NewIndex *index)
{
	if (index->changed == 0 && !tde_index_salts_missing(rel, index->form->indnkeyatts, index->classes->values))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 index->changed > 0 ? errmsg("index \"%s\" would tell the order of a column that is declared unordered", index->name) :
			 errmsg("index \"%s\" would have no salt", index->name),
			 errdetail("The command began before this session had loaded tde_column."),
			 errhint("Repeat it: the library is loaded now.  Preloaded by shared_preload_libraries, it always is.")));
}

/* made_before: without us, so that it is only checked.  Otherwise it has its rows in the catalogs, and no entries yet. */
static void
look_at_index(Relation rel, bool made_before)
{
	Relation	catalog = table_open(IndexRelationId, RowExclusiveLock);
	HeapTuple	row = read_row(catalog, RelationGetRelid(rel));
	NewIndex	index = {RelationGetRelid(rel), rel->rd_rel->relam, RelationGetRelationName(rel)};
	Datum		value;
	bool		isnull;

	if (row == NULL)
		elog(ERROR, "could not find index \"%s\" in the catalog", index.name);
	index.form = (Form_pg_index) GETSTRUCT(row);
	index.classes = (oidvector *) DatumGetPointer(heap_getattr(row, Anum_pg_index_indclass, RelationGetDescr(catalog), &isnull));
	value = heap_getattr(row, Anum_pg_index_indexprs, RelationGetDescr(catalog), &isnull);
	index.expressions = isnull ? NIL : (List *) stringToNode(TextDatumGetCString(value));
	choose_classes(&index);
	if (made_before)
		require_right(rel, &index);
	if (index.changed > 0)
	{
		require_empty(rel);
		write_row(catalog, row, &index);
	}
	if ((!made_before && tde_index_salts_draw(rel, index.form->indnkeyatts, index.classes->values)) || index.changed > 0)
		forget_read(rel);
	heap_freetuple(row);
	table_close(catalog, RowExclusiveLock);
}

static bool
is_index(Relation rel)
{
	return rel->rd_rel->relkind == RELKIND_INDEX || rel->rd_rel->relkind == RELKIND_PARTITIONED_INDEX;
}

/* Most tables have no such column, and their indexes need not be opened. */
static bool
has_encrypted(TupleDesc columns)
{
	for (int i = 0; i < columns->natts; i++)
		if (!TupleDescAttr(columns, i)->attisdropped && tde_type_holds_encrypted(TupleDescAttr(columns, i)->atttypid))
			return true;
	return false;
}

void
tde_index_order_check(Relation rel)
{
	List	   *indexes;
	ListCell   *cell;

	if (is_index(rel))
		look_at_index(rel, true);
	if (!rel->rd_rel->relhasindex || !has_encrypted(RelationGetDescr(rel)))
		return;
	indexes = RelationGetIndexList(rel);
	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		CHECK_FOR_INTERRUPTS();
		look_at_index(index, true);
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
}

void
tde_index_order_created(Oid relation)
{
	Relation	rel;

	if (IsBootstrapProcessingMode() || relation < FirstNormalObjectId)
		return;
	/* its row in pg_class is not to be seen yet */
	rel = RelationIdGetRelation(relation);
	if (rel == NULL)
		return;
	if (is_index(rel))
		look_at_index(rel, false);
	RelationClose(rel);
}

/*
 * ---- ALTER TABLE ... ADD PRIMARY KEY, UNIQUE ... USING INDEX of columns that are declared unordered ----
 *
 * PostgreSQL takes indexes of the default operator classes alone, since a dump of the constraint would make another one.  Of an unordered column it
 * would not.  So where nothing else speaks against the index, the constraint's place in the command is taken by what
 * PostgreSQL makes of it after its look at the index.
 */

/*
 * Returns true if an index of the constraint's own would have this class, collation and direction.  *unordered is set if PostgreSQL would not know
 * so, since the class is that of an unordered column.
 */
static bool
is_natural(Oid table, AttrNumber column, Oid class, Oid collation, int16 option, bool *unordered)
{
	Oid			type;
	int32		typmod;
	Oid			own_collation;
	TdeType    *encrypted;

	get_atttypetypmodcoll(table, column, &type, &typmod, &own_collation);
	encrypted = tde_type_find(getBaseType(type));
	if (option != 0 || collation != own_collation)
		return false;
	if (encrypted == NULL || class != tde_opclass_unordered(encrypted))
		return class == GetDefaultOpClass(type, BTREE_AM_OID);
	*unordered = true;
	return true;
}

/* Returns true if all key columns are so, and one is unordered at least, which makes it a btree. */
static bool
has_natural_columns(HeapTuple row)
{
	Form_pg_index index = (Form_pg_index) GETSTRUCT(row);
	bool		isnull;
	oidvector  *classes = (oidvector *) DatumGetPointer(SysCacheGetAttr(INDEXRELID, row, Anum_pg_index_indclass, &isnull));
	oidvector  *collations = (oidvector *) DatumGetPointer(SysCacheGetAttr(INDEXRELID, row, Anum_pg_index_indcollation, &isnull));
	int2vector *options = (int2vector *) DatumGetPointer(SysCacheGetAttr(INDEXRELID, row, Anum_pg_index_indoption, &isnull));
	bool		unordered = false;

	for (int i = 0; i < index->indnkeyatts; i++)
		if (index->indkey.values[i] <= 0 ||
			!is_natural(index->indrelid, index->indkey.values[i], classes->values[i], collations->values[i], options->values[i], &unordered))
			return false;
	return unordered;
}

/*
 * Returns true if PostgreSQL refuses the index for its unordered columns alone.  The other conditions are those of transformIndexConstraint() in
 * parse_utilcmd.c; an index that fails one of them gets PostgreSQL's error.
 */
static bool
is_usable(Oid table, Oid index, const Constraint *constraint)
{
	HeapTuple	row = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;
	bool		usable;

	if (!HeapTupleIsValid(row))
		return false;
	form = (Form_pg_index) GETSTRUCT(row);
	usable = form->indrelid == table && form->indisvalid && form->indisunique && (form->indimmediate || constraint->deferrable) &&
		heap_attisnull(row, Anum_pg_index_indexprs, NULL) && heap_attisnull(row, Anum_pg_index_indpred, NULL) &&
		get_rel_relkind(index) == RELKIND_INDEX && !OidIsValid(get_index_constraint(index)) &&
		has_natural_columns(row);
	ReleaseSysCache(row);
	return usable;
}

/* PostgreSQL does so for ADD PRIMARY KEY, in a place that the changed command does not reach. */
static void
append_not_null(AlterTableStmt *stmt, Oid index)
{
	HeapTuple	row = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form = (Form_pg_index) GETSTRUCT(row);

	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AlterTableCmd *cmd = makeNode(AlterTableCmd);

		cmd->subtype = AT_SetNotNull;
		cmd->name = get_attname(form->indrelid, form->indkey.values[i], false);
		stmt->cmds = lappend(stmt->cmds, cmd);
	}
	ReleaseSysCache(row);
}

/* Makes what transformIndexConstraint() would make of the constraint. */
static IndexStmt *
as_index(const AlterTableStmt *stmt, const Constraint *constraint, Oid index)
{
	IndexStmt  *made = makeNode(IndexStmt);

	made->unique = true;
	made->primary = constraint->contype == CONSTR_PRIMARY;
	made->isconstraint = true;
	made->deferrable = constraint->deferrable;
	made->initdeferred = constraint->initdeferred;
	made->idxname = constraint->conname;
	made->relation = stmt->relation;
	made->accessMethod = DEFAULT_INDEX_TYPE;
	made->indexOid = index;
	return made;
}

void
tde_index_constraint_prepare(const TdeAlterTable *alter, AlterTableCmd *cmd)
{
	const Constraint *constraint = (const Constraint *) cmd->def;
	Oid			index = constraint->indexname ? get_relname_relid(constraint->indexname, RelationGetNamespace(alter->rel)) : InvalidOid;

	if (!OidIsValid(index) || !is_usable(RelationGetRelid(alter->rel), index, constraint))
		return;
	if (constraint->contype == CONSTR_PRIMARY)
		append_not_null(alter->stmt, index);
	cmd->subtype = AT_AddIndexConstraint;
	cmd->def = (Node *) as_index(alter->stmt, constraint, index);
}
