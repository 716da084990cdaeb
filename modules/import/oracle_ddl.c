/*
 * oracle_ddl.c - Oracle's CREATE TABLE and ALTER TABLE as ours: columns that are encrypted there are so here.
 *
 * No encryption is lost without a word: what is not understood is an error, and so is ENCRYPT where it is passed over.  The password of
 * IDENTIFIED BY comes into no result, error or notice.
 *
 * One pass over the text, by recursive descent with one token of look-ahead (oracle_lexer.h).  Each statement gives rows of the result at once; an
 * error takes all of them back.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "import/oracle_clauses.h"
#include "import/oracle_lexer.h"
#include "import/oracle_types.h"

PG_FUNCTION_INFO_V1(tde_import_import_oracle_ddl);

/* A call: the text, and where commands go. */
typedef struct Import
{
	TdeOracleLexer lexer;
	ReturnSetInfo *result;
} Import;

/* Adds a row to the result.  Commands end without a semicolon. */
static void
put_command(Import *import, const char *command)
{
	Datum		value = CStringGetTextDatum(command);
	bool		isnull = false;

	tuplestore_putvalues(import->result->setResult, import->result->setDesc, &value, &isnull);
}

/* ---- columns ---- */

/* What is said of a column. */
typedef struct Column
{
	char	   *raw_name;
	const char *name;			/* in quotes where SQL needs them */
	bool		has_type;
	TdeOracleType type;
	char	   *spec;			/* modifiers; NULL: no ENCRYPT */
	bool		decrypted;
	StringInfoData rest;		/* default and constraints */
} Column;

/* Reads a column's declaration: a type, if one is named, and ENCRYPT, DECRYPT, DEFAULT and constraints in any order. */
static void
read_column(Import *import, Column *column)
{
	TdeOracleLexer *lexer = &import->lexer;

	*column = (Column) {.raw_name = tde_oracle_lexer_raw_name(lexer)};
	column->name = quote_identifier(column->raw_name);
	initStringInfo(&column->rest);
	column->has_type = tde_oracle_type_is_next(lexer);
	if (column->has_type)
		column->type = tde_oracle_type(lexer);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (tde_oracle_lexer_accept(lexer, "ENCRYPT"))
			column->spec = tde_oracle_type_spec(lexer);
		else if (tde_oracle_lexer_accept(lexer, "DECRYPT"))
			column->decrypted = true;
		else if (tde_oracle_lexer_accept(lexer, "DEFAULT"))
		{
			appendStringInfoString(&column->rest, " DEFAULT");
			tde_oracle_clauses_expression(lexer, false, &column->rest);
		}
		else if (!tde_oracle_clauses_constraint(&import->lexer, false, &column->rest))
			return;
	}
}

/* Copies a column of a table that is made, or that is added. */
static void
copy_column(Import *import, StringInfo out)
{
	Column		column;

	read_column(import, &column);
	if (!column.has_type)
		(void) tde_oracle_type(&import->lexer); /* says what it is not */
	appendStringInfo(out, "%s %s%s", column.name, tde_oracle_type_text(&import->lexer, &column.type, column.spec), column.rest.data);
}

/* ---- CREATE TABLE ---- */

/* Copies what stands between two commas of CREATE TABLE: a constraint, or a column. */
static void
copy_item(Import *import, StringInfo out)
{
	static const char *const constraints[] = {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", NULL};

	StringInfoData constraint;

	if (!tde_oracle_lexer_is_any(&import->lexer, constraints))
	{
		copy_column(import, out);
		return;
	}
	initStringInfo(&constraint);
	(void) tde_oracle_clauses_constraint(&import->lexer, true, &constraint);
	appendStringInfoString(out, constraint.data + 1);
}

/* Throws unless the statement ends here, and tells of what was passed over in it. */
static void
end_statement(Import *import, const char *table)
{
	TdeOracleLexer *lexer = &import->lexer;

	if (!tde_oracle_lexer_is(lexer, ";") && !tde_oracle_lexer_is(lexer, "/") && lexer->kind != TDE_ORACLE_END)
		tde_oracle_lexer_refuse(lexer, NULL);
	if (lexer->dropped)
		ereport(NOTICE, (errmsg("table %s: storage clauses are left out", table)));
	lexer->dropped = false;
}

/* CREATE TABLE: columns and constraints are kept, all that follows the parenthesis is storage. */
static void
import_create_table(Import *import)
{
	TdeOracleLexer *lexer = &import->lexer;
	char	   *table = tde_oracle_clauses_table_name(lexer);
	char	   *separator = " (\n  ";
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "CREATE TABLE %s", table);
	tde_oracle_lexer_expect(lexer, "(");
	do
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(&out, separator);
		copy_item(import, &out);
		separator = ",\n  ";
	} while (tde_oracle_lexer_accept(lexer, ","));
	tde_oracle_lexer_expect(lexer, ")");
	tde_oracle_clauses_skip_storage(lexer);
	while (tde_oracle_lexer_accept(lexer, "ENABLE") || tde_oracle_lexer_accept(lexer, "DISABLE"))
		tde_oracle_clauses_skip_storage(lexer);
	end_statement(import, table);
	appendStringInfoString(&out, ")");
	put_command(import, out.data);
}

/* ---- ALTER TABLE ---- */

static void
add_column(Import *import, const char *table)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "ALTER TABLE %s ADD ", table);
	copy_item(import, &out);
	put_command(import, out.data);
}

/* ALTER TABLE ... MODIFY: the type is kept, unless it is named.  Encrypting alone becomes a conversion of the table in use. */
static void
modify_column(Import *import, const char *table)
{
	Column		column;
	char	   *call;

	read_column(import, &column);
	call = psprintf("%s, %s", quote_literal_cstr(table), quote_literal_cstr(column.raw_name));
	if (column.has_type)
		put_command(import, psprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s", table, column.name,
									 tde_oracle_type_text(&import->lexer, &column.type, column.spec)));
	else if (column.spec)
		put_command(import, psprintf("CALL tde_encrypt_column(%s%s%s)", call, *column.spec ? ", " : "",
									 *column.spec ? quote_literal_cstr(column.spec) : ""));
	if (column.decrypted)
		put_command(import, psprintf("CALL tde_decrypt_column(%s)", call));
	if (strcmp(column.rest.data, " NOT NULL") == 0)
		put_command(import, psprintf("ALTER TABLE %s ALTER COLUMN %s SET NOT NULL", table, column.name));
	else if (column.rest.len > 0)
		tde_oracle_lexer_refuse(&import->lexer, "Before it, MODIFY changes more than type, encryption and NOT NULL.");
}

/* ADD and MODIFY take one column, or several in parentheses. */
static void
each_column(Import *import, const char *table, void (*action) (Import *import, const char *table))
{
	if (!tde_oracle_lexer_accept(&import->lexer, "("))
	{
		action(import, table);
		return;
	}
	do
	{
		CHECK_FOR_INTERRUPTS();
		action(import, table);
	} while (tde_oracle_lexer_accept(&import->lexer, ","));
	tde_oracle_lexer_expect(&import->lexer, ")");
}

/* ALTER TABLE: ADD and MODIFY, several in one statement, and REKEY, which becomes tde_rekey_table(). */
static void
import_alter_table(Import *import)
{
	TdeOracleLexer *lexer = &import->lexer;
	char	   *table = tde_oracle_clauses_table_name(lexer);

	do
	{
		CHECK_FOR_INTERRUPTS();
		if (tde_oracle_lexer_accept(lexer, "ADD"))
			each_column(import, table, add_column);
		else if (tde_oracle_lexer_accept(lexer, "MODIFY"))
			each_column(import, table, modify_column);
		else
		{
			tde_oracle_lexer_expect(lexer, "REKEY");
			put_command(import, psprintf("CALL tde_rekey_table(%s)", quote_literal_cstr(table)));
		}
	} while (!tde_oracle_lexer_is(lexer, ";") && !tde_oracle_lexer_is(lexer, "/") && lexer->kind != TDE_ORACLE_END);
	end_statement(import, table);
}

/* ---- statements ---- */

/* A statement, by its first words.  What has nothing to do with encryption is left out, with a NOTICE. */
static void
import_statement(Import *import)
{
	static const char *const indexes[] = {"INDEX", "UNIQUE", "BITMAP", NULL};
	TdeOracleLexer *lexer = &import->lexer;

	if (tde_oracle_lexer_accept(lexer, "CREATE"))
	{
		if (tde_oracle_lexer_accept(lexer, "TABLE"))
			import_create_table(import);
		else if (tde_oracle_lexer_is_any(lexer, indexes))
			tde_oracle_clauses_skip_statement(lexer, "CREATE INDEX");
		else if (tde_oracle_lexer_is(lexer, "SEQUENCE"))
			tde_oracle_clauses_skip_statement(lexer, "CREATE SEQUENCE");
		else
			tde_oracle_lexer_refuse(lexer, "Tables are imported; indexes and sequences are left out.");
	}
	else if (tde_oracle_lexer_accept(lexer, "ALTER"))
	{
		if (tde_oracle_lexer_accept(lexer, "TABLE"))
			import_alter_table(import);
		else if (tde_oracle_lexer_is(lexer, "SESSION") || tde_oracle_lexer_is(lexer, "INDEX"))
			tde_oracle_clauses_skip_statement(lexer, psprintf("ALTER %s", lexer->token));
		else
			tde_oracle_lexer_refuse(lexer, "Tables are imported.");
	}
	else if (tde_oracle_lexer_is(lexer, "COMMENT") || tde_oracle_lexer_is(lexer, "GRANT"))
		tde_oracle_clauses_skip_statement(lexer, lexer->token);
	else
		tde_oracle_lexer_refuse(lexer, "CREATE TABLE and ALTER TABLE are imported.");
}

/* tde_import_oracle_ddl(ddl text) returns setof text - Oracle's statements, each as one or more of ours. */
Datum
tde_import_import_oracle_ddl(PG_FUNCTION_ARGS)
{
	Import		import = {.result = (ReturnSetInfo *) fcinfo->resultinfo};

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	tde_oracle_lexer_start(&import.lexer, text_to_cstring(PG_GETARG_TEXT_PP(0)));
	while (import.lexer.kind != TDE_ORACLE_END)
	{
		CHECK_FOR_INTERRUPTS();
		if (!tde_oracle_lexer_accept(&import.lexer, ";") && !tde_oracle_lexer_accept(&import.lexer, "/"))
			import_statement(&import);
	}
	return (Datum) 0;
}
