/*
 * index_constraint.c - ALTER TABLE ... ADD PRIMARY KEY, UNIQUE ... USING INDEX of columns that are declared unordered.
 *
 * PostgreSQL takes indexes of the default operator classes alone, since a dump of the constraint would make another one.  Of an unordered column it
 * would not (ddl/index_order.c).  So where nothing else speaks against the index, the constraint's place in the command is taken by what
 * PostgreSQL makes of it after its look at the index.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "ddl/index_constraint.h"
#include "operators/opclass.h"
#include "server/compat.h"

/* Would an index of the constraint's own have this class, collation and direction?  *unordered: PostgreSQL would not know. */
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

/* All its key columns, of which one is unordered at least: so it is a btree. */
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

/* Does PostgreSQL refuse the index for its unordered columns alone? */
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

/* Whether the index is there, and its own, is asked again under the lock. */
static Oid
usable_index(AlterTableStmt *stmt, const AlterTableCmd *cmd)
{
	const Constraint *constraint = (const Constraint *) cmd->def;
	Oid			table = RangeVarGetRelid(stmt->relation, NoLock, true);
	Oid			index;

	if (cmd->subtype != AT_AddConstraint || constraint->indexname == NULL || !OidIsValid(table))
		return InvalidOid;
	index = get_relname_relid(constraint->indexname, get_rel_namespace(table));
	if (!OidIsValid(index) || !is_usable(table, index, constraint))
		return InvalidOid;
	/* as ALTER TABLE does it next, with the same errors */
	table = AlterTableLookupRelation(stmt, AlterTableGetLockLevel(stmt->cmds));
	return is_usable(table, index, constraint) ? index : InvalidOid;
}

static List *
not_null(List *cmds, Oid index)
{
	HeapTuple	row = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form = (Form_pg_index) GETSTRUCT(row);

	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AlterTableCmd *cmd = makeNode(AlterTableCmd);

		cmd->subtype = AT_SetNotNull;
		cmd->name = get_attname(form->indrelid, form->indkey.values[i], false);
		cmds = lappend(cmds, cmd);
	}
	ReleaseSysCache(row);
	return cmds;
}

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
tde_index_constraint_prepare(AlterTableStmt *stmt)
{
	List	   *cmds = NIL;
	ListCell   *cell;

	foreach(cell, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(cell);
		Oid			index = usable_index(stmt, cmd);

		CHECK_FOR_INTERRUPTS();
		if (OidIsValid(index))
		{
			IndexStmt  *made = as_index(stmt, (Constraint *) cmd->def, index);

			if (made->primary)
				cmds = not_null(cmds, index);
			cmd->subtype = AT_AddIndexConstraint;
			cmd->def = (Node *) made;
		}
		cmds = lappend(cmds, cmd);
	}
	stmt->cmds = cmds;
}
