/*
 * explain_error.c - errors of PostgreSQL's about declarations get a hint that knows of encrypted columns; what DROP EXTENSION takes along.
 *
 * PostgreSQL's own hints are about plain columns, and some lead astray: to DROP ... CASCADE, which drops every encrypted column and the data keys,
 * or to an operator class that is refused next.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ddl/declared_type.h"
#include "ddl/explain_error.h"
#include "ddl/sql_names.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "server/table_name.h"

#define EXTENSION		"tde_column"
#define NAMED_COLUMNS	10		/* more are counted */

/* ---- DROP EXTENSION ---- */

/* Returns true for DROP EXTENSION that names this extension, maybe among others. */
static bool
drops_extension(Node *statement)
{
	ListCell   *cell;

	if (!IsA(statement, DropStmt) || ((DropStmt *) statement)->removeType != OBJECT_EXTENSION)
		return false;
	foreach(cell, ((DropStmt *) statement)->objects)
		if (strcmp(strVal(lfirst(cell)), EXTENSION) == 0)
			return true;
	return false;
}

/* PostgreSQL's own hint is to use CASCADE. */
static void
explain_drop(void *statement)
{
	if (geterrcode() == ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST)
		errhint("Decrypt the columns first, by tde_decrypt_column().  DROP ... CASCADE drops them with all their values, and the data keys.");
}

/* Returns true for a column of a relation that has values: of a table, a materialized view, or a partitioned table for its partitions. */
static bool
holds_values(Form_pg_attribute column)
{
	char		kind;

	if (column->attnum <= 0 || column->attisdropped || !tde_ddl_encrypted(column->atttypid))
		return false;
	kind = get_rel_relkind(column->attrelid);
	return kind == RELKIND_RELATION || kind == RELKIND_MATVIEW || kind == RELKIND_PARTITIONED_TABLE;
}

/* Appends the names of the first columns, of all schemas and owners, and returns how many there are. */
static int
list_columns(StringInfo names)
{
	Relation	catalog = table_open(AttributeRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;
	int			count = 0;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_attribute column = (Form_pg_attribute) GETSTRUCT(tuple);

		CHECK_FOR_INTERRUPTS();
		if (!holds_values(column))
			continue;
		if (count++ < NAMED_COLUMNS)
			appendStringInfo(names, "%s%s.%s", count == 1 ? "" : ", ",
							 tde_table_name(column->attrelid),
							 quote_identifier(NameStr(column->attname)));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	if (count > NAMED_COLUMNS)
		appendStringInfo(names, ", and %d more", count - NAMED_COLUMNS);
	return count;
}

void
tde_explain_drop_extension(Node *statement)
{
	StringInfoData names;
	int			count;

	if (!drops_extension(statement) || ((DropStmt *) statement)->behavior != DROP_CASCADE)
		return;
	initStringInfo(&names);
	count = list_columns(&names);
	if (count > 0)
		ereport(WARNING,
				(errcode(ERRCODE_WARNING),
				 errmsg_plural("%d encrypted column is dropped, with all its values and the data keys",
							   "%d encrypted columns are dropped, with all their values and the data keys", count, count),
				 errdetail("These are %s.", names.data),
				 errhint("To keep the values, run DROP EXTENSION in a transaction block, ROLLBACK, and decrypt the columns by tde_decrypt_column() first.")));
	pfree(names.data);
}

/* ---- declarations ---- */

/* btree, hash and brin have operator classes for all encrypted types, and bloom gets one. */
static bool
has_no_classes(const char *method)
{
	return strcmp(method, "gin") == 0 || strcmp(method, "gist") == 0 || strcmp(method, "spgist") == 0;
}

/*
 * Returns the first element of an index that is of an encrypted type; NULL if there is none.  lacking: the first without options, since our classes
 * of GIN have one, and who names an option has named such a class.
 */
static IndexElem *
encrypted_element(IndexStmt *statement, bool lacking)
{
	Oid			table = statement->relation ? RangeVarGetRelid(statement->relation, NoLock, true) : InvalidOid;
	ListCell   *cell;

	foreach(cell, OidIsValid(table) ? statement->indexParams : NIL)
	{
		IndexElem  *element = lfirst_node(IndexElem, cell);

		if (tde_ddl_encrypted(tde_opclass_element_type(statement, table, element)) && !(lacking && element->opclassopts))
			return element;
	}
	return NULL;
}

/* CREATE INDEX ON t USING gin (c gin_trgm_ops) of an encrypted c: the class exists for the base type only, until a superuser makes the other one. */
static void
explain_index(void *statement)
{
	const char *method = ((IndexStmt *) statement)->accessMethod;
	bool		is_gin = strcmp(method, "gin") == 0;
	IndexElem  *lacking;

	/* catalogs are read for these alone: after others there may be no reading */
	if (geterrcode() != ERRCODE_UNDEFINED_OBJECT && geterrcode() != ERRCODE_DATATYPE_MISMATCH)
		return;
	lacking = is_gin ? encrypted_element(statement, true) : NULL;
	if (lacking)
		errhint("A superuser makes the version of an operator class for encrypted columns, which stores nothing in clear: "
				"SELECT tde_create_gin_class('%s');", lacking->opclass ? NameListToString(lacking->opclass) : "gin_trgm_ops");
	else if (!is_gin)
		errhint("Encrypted columns have btree, hash, brin and gin indexes.  A %s index would store parts of the values in clear.", method);
}

/* Returns the column that a part of CREATE TABLE or a command of ALTER TABLE declares; NULL: it declares none. */
static ColumnDef *
next_column(Node *part)
{
	if (IsA(part, AlterTableCmd))
		part = ((AlterTableCmd *) part)->def;
	return part && IsA(part, ColumnDef) ? (ColumnDef *) part : NULL;
}

/* The name alone counts: where the error is about the type, there may be none. */
static bool
names_encrypted(TypeName *name)
{
	return name && name->names && strncmp(strVal(llast(name->names)), "encrypted_", strlen("encrypted_")) == 0;
}

/* is_virtual: of generated columns, only those that are not stored; CREATE TABLE (b int GENERATED ALWAYS AS (a + 1)) makes one from 18 on. */
static bool
has_constraint(ColumnDef *column, ConstrType kind, bool is_virtual)
{
	ListCell   *cell;

	foreach(cell, column->constraints)
		if (IsA(lfirst(cell), Constraint) && ((Constraint *) lfirst(cell))->contype == kind && (!is_virtual || TDE_IS_VIRTUAL(lfirst(cell))))
			return true;
	return false;
}

/* The SQLSTATE says what kind of mistake it is, and the declaration which one. */
static void
explain_column(ColumnDef *column)
{
	bool		encrypted = names_encrypted(column->typeName);

	if (encrypted && geterrcode() == ERRCODE_SYNTAX_ERROR)
		errhint("Modifiers are words such as aes256, salt and gcm, without a hyphen.  Quote '3des168' and 'key=NAME'.");
	else if (encrypted && geterrcode() == ERRCODE_INVALID_PARAMETER_VALUE && has_constraint(column, CONSTR_IDENTITY, false))
		errhint("Declare the column NOT NULL without it, and run ALTER TABLE ... ALTER COLUMN ... ADD GENERATED BY DEFAULT AS IDENTITY: that gives it a "
				"sequence and a default.");
	else if ((geterrcode() == ERRCODE_INVALID_OBJECT_DEFINITION || geterrcode() == ERRCODE_FEATURE_NOT_SUPPORTED) &&
			 has_constraint(column, CONSTR_GENERATED, true))
		errhint(encrypted ? "Write STORED: virtual columns take no encrypted types." :
				"If it reads an encrypted column, write STORED: it becomes encrypted then.");
}

/*
 * Returns true if ALTER TABLE does nothing but give columns encrypted types, and drops something perhaps.  A type is encrypted by its name or, in place of
 * a plain one, by its OID (ddl/plaintext_alter.c).
 */
static bool
only_encrypts(AlterTableStmt *statement)
{
	bool		encrypts = false;
	ListCell   *cell;

	foreach(cell, statement->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, cell);
		ColumnDef  *def = cmd->subtype == AT_AlterColumnType ? (ColumnDef *) cmd->def : NULL;

		if (def && def->raw_default == NULL && (names_encrypted(def->typeName) || OidIsValid(def->typeName->typeOid)))
			encrypts = true;
		else if (cmd->subtype != AT_DropConstraint && cmd->subtype != AT_DropColumn)
			return false;
	}
	return encrypts;
}

/*
 * What is stored of constraints and indexes is parsed anew with the new type, and may find no operator there, as CHECK (n > 5) with its constant of the
 * former type; what an index computes of an encrypted column decrypts.  An error of a function that the rewrite calls has an internal position.
 */
static void
explain_new_types(AlterTableStmt *statement)
{
	if (getinternalerrposition() > 0 || !only_encrypts(statement))
		return;
	if (geterrcode() == ERRCODE_UNDEFINED_FUNCTION || geterrcode() == ERRCODE_AMBIGUOUS_FUNCTION)
		errhint("A CHECK constraint, or the condition of an index, does not suit the new type.  Drop it, change the type, and make it again: "
				"ALTER TABLE ... DROP CONSTRAINT ..., ALTER COLUMN ... TYPE ..., ADD CHECK (...);");
	else if (geterrcode() == ERRCODE_INVALID_OBJECT_DEFINITION)
		errhint("An index computes something of the column.  Drop it, change the type, and make it again: "
				"DROP INDEX ...; ALTER TABLE ... ALTER COLUMN ... TYPE ...; CREATE INDEX ON ...;");
}

/* PostgreSQL does not tell which column an error is about.  The hint is of the last one that could be meant. */
static void
explain_columns(void *statement)
{
	ListCell   *cell;

	if (IsA(statement, AlterTableStmt))
		explain_new_types(statement);
	foreach(cell, IsA(statement, AlterTableStmt) ? ((AlterTableStmt *) statement)->cmds : ((CreateStmt *) statement)->tableElts)
	{
		ColumnDef  *column = next_column(lfirst(cell));

		if (geterrcode() == ERRCODE_INVALID_PARAMETER_VALUE && IsA(lfirst(cell), AlterTableCmd) && lfirst_node(AlterTableCmd, cell)->subtype == AT_AddIdentity)
			errhint("If the column is encrypted, write GENERATED BY DEFAULT.");
		if (column)
			explain_column(column);
	}
}

TdeExplain
tde_ddl_explains(Node *statement)
{
	if (drops_extension(statement))
		return explain_drop;
	if (IsA(statement, IndexStmt) && has_no_classes(((IndexStmt *) statement)->accessMethod) && encrypted_element((IndexStmt *) statement, false))
		return explain_index;
	if (IsA(statement, CreateStmt) || IsA(statement, AlterTableStmt))
		return explain_columns;
	return NULL;
}

/* ---- a join of columns of one name ---- */

/* How PostgreSQL's message begins, and what stands between its two types. */
#define NO_CONVERSION	"failed to find conversion function from "
#define BETWEEN_TYPES	" to "

/*
 * SELECT ... FROM a JOIN b USING (x), of a plain bigint and an encrypted integer.  The parser chooses the type of such a column by what casts there
 * are, and takes for granted that the other one becomes it.  A plain number does not become a larger encrypted one by itself, which PostgreSQL
 * reports as an internal error.
 */
static void
explain_join(ErrorData *edata)
{
	char	   *types;
	char	   *second;

	if (edata->sqlerrcode != ERRCODE_INTERNAL_ERROR || edata->message_id == NULL || strcmp(edata->message_id, NO_CONVERSION "%s" BETWEEN_TYPES "%s") != 0)
		return;
	types = pstrdup(edata->message + strlen(NO_CONVERSION));
	second = strstr(types, BETWEEN_TYPES);
	if (second == NULL || (strstr(types, "encrypted_") == NULL))
		return;
	*second = '\0';
	second += strlen(BETWEEN_TYPES);
	edata->sqlerrcode = ERRCODE_DATATYPE_MISMATCH;
	edata->message = psprintf("JOIN/USING types %s and %s cannot be matched", second, types);
	edata->hint = psprintf("Join by a condition, which finds the operator of both types: ON a.x = b.x.");
}

/* ---- settings and rights ---- */

/* The untranslated message tells which error it is, in whatever language the client gets it.  One that has a hint needs none of ours. */
static bool
says(ErrorData *edata, int code, const char *message)
{
	return edata->sqlerrcode == code && edata->hint == NULL && edata->message_id && strcmp(edata->message_id, message) == 0;
}

/* SET tde_column.wallet_file = '...' fails as PostgreSQL says it of any parameter, and what to do instead depends on how it is changed. */
static void
explain_setting(ErrorData *edata)
{
	bool		now = says(edata, ERRCODE_CANT_CHANGE_RUNTIME_PARAM, "parameter \"%s\" cannot be changed now");
	bool		restart = says(edata, ERRCODE_CANT_CHANGE_RUNTIME_PARAM, "parameter \"%s\" cannot be changed without restarting the server");
	const char *name = now || restart ? strstr(edata->message, "\"" EXTENSION ".") : NULL;

	if (name)
		edata->hint = psprintf("ALTER SYSTEM SET %.*s = ...; %s", (int) strcspn(name + 1, "\""), name + 1,
							   now ? "SELECT pg_reload_conf();" : "and restart the server.");
}

/* No catalog is read here, where an error is under way: those of several functions that have one name are named with the arguments that most roles need. */
static const char *const overloaded[] = {"tde_export_keys(text)", "tde_import_keys(text, text)", "tde_wallet_create(text)", "tde_wallet_open(text)"};

static const char *const for_superusers[] = {"tde_create_gin_class", "tde_create_type", "tde_refresh_types"};

/* PostgreSQL says who may not, and not who could grant it. */
static void
explain_function(ErrorData *edata)
{
	const char *name;

	if (!says(edata, ERRCODE_INSUFFICIENT_PRIVILEGE, "permission denied for function %s"))
		return;
	/* the message may be in any language */
	name = strstr(edata->message, "tde_");
	if (name == NULL)
		return;
	name = pnstrdup(name, strspn(name, "abcdefghijklmnopqrstuvwxyz_"));
	for (int i = 0; i < lengthof(for_superusers); i++)
		if (strcmp(name, for_superusers[i]) == 0)
		{
			edata->hint = pstrdup("Have a superuser call it.");
			return;
		}
	for (int i = 0; i < lengthof(overloaded); i++)
		if (strncmp(name, overloaded[i], strlen(name)) == 0 && overloaded[i][strlen(name)] == '(')
			name = overloaded[i];
	edata->hint = psprintf("Have a superuser run: GRANT EXECUTE ON FUNCTION %s TO ...;", name);
}

/* ---- errors of our functions in PL/pgSQL ---- */

/* Returns true if this line of a context is about a function of ours.  What a quoted statement says does not count. */
static bool
is_ours(const char *line, size_t length)
{
	const char *paren = memchr(line, '(', length);
	const char *name = paren ? paren : line;

	while (name > line && name[-1] != ' ')
		name--;
	return paren && memchr(line, '"', paren - line) == NULL &&
		(strncmp(name, "tde_internal.", strlen("tde_internal.")) == 0 || strncmp(name, "tde_", strlen("tde_")) == 0);
}

/*
 * Returns true if this line, the first of a context, is of an error that a function of ours raises: by RAISE, or in C by the call of one of its own.
 * ours: what is_ours() says of it.
 */
static bool
is_refusal(const char *line, size_t length, bool ours)
{
	static const char raised[] = " RAISE";
	const char *call = strstr(line, "\"SELECT tde_internal.tde_");

	return ours ? length > strlen(raised) && strncmp(line + length - strlen(raised), raised, strlen(raised)) == 0 :
		call != NULL && call < line + length;
}

/*
 * What our functions refuse, they say in message, detail and hint: which of them have called one another by then, is of no use.  What has called the
 * first of them stays.
 */
static void
explain_context(ErrorData *edata)
{
	char	   *line = edata->context;
	char	   *after = NULL;

	if (line == NULL || edata->elevel != ERROR)
		return;
	for (bool first = true; *line != '\0'; first = false)
	{
		size_t		length = strcspn(line, "\n");
		bool		ours = is_ours(line, length);

		if (first && !is_refusal(line, length, ours))
			return;
		line += length + (line[length] == '\n' ? 1 : 0);
		if (ours)
			after = line;
	}
	/* somebody's own function may call one of these, too */
	if (after == NULL)
		return;
	if (*after == '\0')
		edata->context = NULL;
	else
		memmove(edata->context, after, strlen(after) + 1);
}

void
tde_explain_error(ErrorData *edata)
{
	explain_context(edata);
	explain_join(edata);
	explain_setting(edata);
	explain_function(edata);
	tde_sql_names_explain(edata);
}
