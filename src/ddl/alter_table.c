/*
 * alter_table.c - ALTER TABLE before it runs: the way through its commands.
 *
 * The table is found and locked here, once, as PostgreSQL does it next, so that nobody encrypts a column between this and that; a user who may not
 * alter it gets no further.  Then the commands are gone through twice.  First each column that is declared gets its type: what would be
 * stored in clear is kept encrypted or refused (plaintext_alter.c), and types without modifiers get the default (declare.c).  Then, by the types that the
 * columns are going to have, come identities (identity.c), constraints that take an index (index_order.c) and operators for foreign keys
 * (foreign_keys.c).  A command that is appended on the way is gone through as if the user had written it.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "ddl/alter_table.h"
#include "ddl/declare.h"
#include "ddl/declared_type.h"
#include "ddl/foreign_keys.h"
#include "ddl/identity.h"
#include "ddl/index_order.h"
#include "ddl/kept_encrypted.h"
#include "ddl/plaintext_alter.h"

/* Does it declare columns, or what depends on their types? */
static bool
concerns_types(const AlterTableStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, stmt->cmds)
		switch (lfirst_node(AlterTableCmd, cell)->subtype)
		{
			case AT_AddColumn:
			case AT_AlterColumnType:
			case AT_AddConstraint:
			case AT_AddIdentity:
				return true;
			default:
				break;
		}
	return false;
}

static void
declare(TdeAlterTable *alter, AlterTableCmd *cmd)
{
	ColumnDef  *column = tde_ddl_declared_column(cmd);

	if (list_member_ptr(alter->foreign_keys, cmd->def))
		tde_plaintext_alter_foreign_key(alter, (Constraint *) cmd->def);
	if (column == NULL)
		return;
	tde_plaintext_alter_column(alter, cmd);
	tde_ddl_declare_altered(column);
	if (cmd->subtype == AT_AddColumn)
		alter->added = lappend(alter->added, column);
}

static void
go_by_types(TdeAlterTable *alter, AlterTableCmd *cmd)
{
	if (cmd->subtype == AT_AddIdentity)
		tde_identity_prepare(alter, cmd);
	else if (cmd->subtype == AT_AddConstraint)
		tde_index_constraint_prepare(alter, cmd);
}

List *
tde_alter_table_begin(Node *node, const char *source)
{
	AlterTableStmt *stmt = (AlterTableStmt *) node;
	TdeAlterTable alter = {stmt, source};
	List	   *members;
	Oid			table;
	ListCell   *cell;

	/* in a transaction that is read-only, it is going to be refused */
	if (!IsA(node, AlterTableStmt) || XactReadOnly || RecoveryInProgress() || !concerns_types(stmt))
		return NIL;
	table = AlterTableLookupRelation(stmt, AlterTableGetLockLevel(stmt->cmds));
	if (!OidIsValid(table))
		return NIL;
	/* may be a composite type */
	alter.rel = relation_open(table, NoLock);
	alter.foreign_keys = tde_foreign_keys_added(stmt->cmds);
	foreach(cell, IsBinaryUpgrade ? NIL : stmt->cmds)
		declare(&alter, lfirst(cell));
	tde_kept_generated_alter(&alter);
	foreach(cell, IsBinaryUpgrade ? NIL : stmt->cmds)
		go_by_types(&alter, lfirst(cell));
	members = tde_foreign_keys_begin(&alter);
	relation_close(alter.rel, NoLock);
	return members;
}
