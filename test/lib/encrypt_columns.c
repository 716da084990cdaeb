/*
 * encrypt_columns.c - for tests: CREATE TABLE and ADD COLUMN make encrypted columns of plain ones, as if somebody had encrypted an
 * application's tables.  Columns that number themselves, generated columns, arrays, types that have no encrypted version, and tables with
 * exclusion constraints, which need gist, stay plain.
 *
 * It is to be in shared_preload_libraries, and does that in databases where encrypt_columns.enabled is on.
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/analyze.h"
#include "utils/guc.h"

#include "server/compat.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static bool enabled = false;
static post_parse_analyze_hook_type next_analyzed = NULL;

static const char *const types[] = {
	"text", "varchar", "bpchar", "int2", "int4", "int8", "numeric", "float4", "float8", "bool", "date", "time", "timetz", "timestamp",
	"timestamptz", "interval", "bytea", "uuid", "json", "jsonb", "inet"
};

/* Does the column number itself, or is it computed? */
static bool
makes_values(ColumnDef *column)
{
	ListCell   *cell;

	foreach(cell, column->constraints)
	{
		ConstrType	kind = lfirst_node(Constraint, cell)->contype;

		if (kind == CONSTR_IDENTITY || kind == CONSTR_GENERATED)
			return true;
	}
	return false;
}

static void
encrypt(ColumnDef *column)
{
	TypeName   *type = column->typeName;
	const char *name;

	if (type == NULL || type->arrayBounds != NIL || type->setof || type->pct_type || makes_values(column))
		return;
	name = strVal(llast(type->names));
	for (int i = 0; i < lengthof(types); i++)
		if (strcmp(name, types[i]) == 0)
			type->names = list_make2(makeString(pstrdup("pg_catalog")), makeString(psprintf("encrypted_%s", name)));
}

static void
encrypt_table(List *elements)
{
	ListCell   *cell;

	foreach(cell, elements)
		if (IsA(lfirst(cell), Constraint) && ((Constraint *) lfirst(cell))->contype == CONSTR_EXCLUSION)
			return;
	foreach(cell, elements)
		if (IsA(lfirst(cell), ColumnDef))
			encrypt(lfirst(cell));
}

static void
analyzed(TDE_ANALYZE_PARAMETERS)
{
	ListCell   *cell;

	if (enabled && query->commandType == CMD_UTILITY && IsA(query->utilityStmt, CreateStmt))
		encrypt_table(((CreateStmt *) query->utilityStmt)->tableElts);
	if (enabled && query->commandType == CMD_UTILITY && IsA(query->utilityStmt, AlterTableStmt))
		foreach(cell, ((AlterTableStmt *) query->utilityStmt)->cmds)
		{
			AlterTableCmd *command = lfirst(cell);

			if (command->subtype == AT_AddColumn || command->subtype == AT_AlterColumnType)
				encrypt((ColumnDef *) command->def);
		}
	if (next_analyzed)
		next_analyzed(pstate, query, jumble);
}

void
_PG_init(void)
{
	DefineCustomBoolVariable("encrypt_columns.enabled", "Makes encrypted columns of plain ones.", NULL, &enabled, false, PGC_SUSET, 0, NULL, NULL, NULL);
	next_analyzed = post_parse_analyze_hook;
	post_parse_analyze_hook = analyzed;
}
