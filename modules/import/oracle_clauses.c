/*
 * oracle_clauses.c - what stands around the columns of Oracle's DDL: constraints and defaults, which are kept, and storage, which is passed over.
 *
 * What is kept is copied word by word, since PostgreSQL reads most of it in the same way.  A word that is neither a name nor known to mean the same
 * is an error, and left to the user.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "import/oracle_clauses.h"

/* Names are quoted where SQL needs that. */
char *
tde_oracle_clauses_table_name(TdeOracleLexer *lexer)
{
	char	   *name = tde_oracle_lexer_name(lexer);

	return tde_oracle_lexer_accept(lexer, ".") ? psprintf("%s.%s", name, tde_oracle_lexer_name(lexer)) : name;
}

/* ---- what is passed over ---- */

/* Throws if ENCRYPT is next, where something is passed over: no encryption is lost without a word. */
static void
refuse_encryption(const TdeOracleLexer *lexer)
{
	if (tde_oracle_lexer_is(lexer, "ENCRYPT"))
		tde_oracle_lexer_refuse(lexer, "Write the ENCRYPT clause behind the type of the column.");
}

/* Passes over parentheses with all that is in them.  ENCRYPT within is an error, as of a LOB's storage, and so is the end of the statement. */
static void
skip_parentheses(TdeOracleLexer *lexer)
{
	int			depth = 0;

	do
	{
		CHECK_FOR_INTERRUPTS();
		refuse_encryption(lexer);
		if (lexer->kind == TDE_ORACLE_END || tde_oracle_lexer_is(lexer, ";"))
			tde_oracle_lexer_refuse(lexer, NULL);
		depth += tde_oracle_lexer_is(lexer, "(") - tde_oracle_lexer_is(lexer, ")");
		tde_oracle_lexer_next(lexer);
	} while (depth > 0);
}

/* Words are taken one by one, in whatever order; the first that is no such word ends it. */
void
tde_oracle_clauses_skip_storage(TdeOracleLexer *lexer)
{
	static const char *const words[] = {
		"SEGMENT", "CREATION", "IMMEDIATE", "DEFERRED", "PCTFREE", "PCTUSED", "INITRANS", "MAXTRANS", "COMPRESS", "NOCOMPRESS", "BASIC", "ADVANCED",
		"LOGGING", "NOLOGGING", "STORAGE", "LOB", "STORE", "AS", "SECUREFILE", "BASICFILE", "PARALLEL", "NOPARALLEL", "CACHE", "NOCACHE", "MONITORING",
		"ROW", "MOVEMENT", "ORGANIZATION", "HEAP", "COMPUTE", "STATISTICS", "RESULT_CACHE", "NOINMEMORY", "NO", "INMEMORY", "REVERSE", "LOCAL",
		"FLASHBACK", "ARCHIVE", NULL
	};

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (tde_oracle_lexer_accept(lexer, "TABLESPACE"))
			(void) tde_oracle_lexer_name(lexer);
		else if (tde_oracle_lexer_is(lexer, "("))
			skip_parentheses(lexer);
		else if (tde_oracle_lexer_is_any(lexer, words) || lexer->kind == TDE_ORACLE_NUMBER || lexer->kind == TDE_ORACLE_QUOTED)
			tde_oracle_lexer_next(lexer);
		else
			return;
		lexer->dropped = true;
	}
}

/* A semicolon within a string does not end it: the lexer has that as one token.  Nor does a slash in parentheses, which divides. */
void
tde_oracle_clauses_skip_statement(TdeOracleLexer *lexer, const char *what)
{
	ereport(NOTICE, (errmsg("line %d: %s is left out", lexer->line, what)));
	while (!tde_oracle_lexer_is(lexer, ";") && !tde_oracle_lexer_is(lexer, "/") && lexer->kind != TDE_ORACLE_END)
	{
		CHECK_FOR_INTERRUPTS();
		refuse_encryption(lexer);
		if (tde_oracle_lexer_is(lexer, "("))
			skip_parentheses(lexer);
		else
			tde_oracle_lexer_next(lexer);
	}
}

/* ---- expressions ---- */

/* Returns what stands in expressions as it is, or for what; NULL: it is a name. */
static const char *
known_word(const TdeOracleLexer *lexer)
{
	static const char *const others[][2] = {
		{"SYSDATE", "LOCALTIMESTAMP(0)"}, {"SYSTIMESTAMP", "CURRENT_TIMESTAMP"}, {"DATE", "timestamp"}, {"TIMESTAMP", "timestamp"}
	};
	static const char *const same[] = {"AND", "OR", "NOT", "IS", "NULL", "IN", "BETWEEN", "LIKE", "ESCAPE", "CASE", "WHEN", "THEN", "ELSE", "END", NULL};

	for (int i = 0; i < lengthof(others); i++)
		if (tde_oracle_lexer_is(lexer, others[i][0]))
			return others[i][1];
	return tde_oracle_lexer_is_any(lexer, same) ? lexer->token : NULL;
}

/* Copies a word of an expression.  A function that is not known is refused: one of the same name may do something else here. */
static void
copy_word(TdeOracleLexer *lexer, bool names, StringInfo out)
{
	static const char *const functions[] = {"UPPER", "LOWER", "LENGTH", "TRIM", "SUBSTR", "ABS", "COALESCE", "MOD", NULL};
	const char *known = lexer->kind == TDE_ORACLE_WORD ? known_word(lexer) : NULL;
	const char *next = lexer->rest + strspn(lexer->rest, " \t\r\n");

	if (known == NULL && *next == '(' && !tde_oracle_lexer_is_any(lexer, functions))
		tde_oracle_lexer_refuse(lexer, "This function is not known here: write what stands for it there, by hand.");
	if (known == NULL && *next != '(' && !names)
		tde_oracle_lexer_refuse(lexer, "A default has no names: write what stands for it there, by hand.");
	if (known)
	{
		appendStringInfo(out, " %s", known);
		tde_oracle_lexer_next(lexer);
	}
	else
		appendStringInfo(out, " %s", tde_oracle_lexer_name(lexer));
}

/* In a column's declaration the words that may follow a default end it, but not its first word: NULL may be the default. */
void
tde_oracle_clauses_expression(TdeOracleLexer *lexer, bool names, StringInfo out)
{
	static const char *const symbols[] = {"+", "-", "*", "/", "(", ")", ",", "=", "<", ">", "<=", ">=", "<>", "!=", "||", NULL};
	static const char *const ends[] = {"NOT", "NULL", "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES", "ENCRYPT", "ENABLE", "DISABLE", NULL};
	int			depth = 0;

	for (bool first = true;; first = false)
	{
		CHECK_FOR_INTERRUPTS();
		if (depth == 0 && (tde_oracle_lexer_is(lexer, ",") || tde_oracle_lexer_is(lexer, ")") || tde_oracle_lexer_is(lexer, ";") ||
						   tde_oracle_lexer_is_slash_line(lexer) || lexer->kind == TDE_ORACLE_END || (!names && !first && tde_oracle_lexer_is_any(lexer, ends))))
			return;
		if (lexer->kind == TDE_ORACLE_WORD || lexer->kind == TDE_ORACLE_QUOTED)
		{
			copy_word(lexer, names, out);
			continue;
		}
		if (lexer->kind == TDE_ORACLE_END || (lexer->kind == TDE_ORACLE_SYMBOL && !tde_oracle_lexer_is_any(lexer, symbols)))
			tde_oracle_lexer_refuse(lexer, NULL);
		depth += tde_oracle_lexer_is(lexer, "(") - tde_oracle_lexer_is(lexer, ")");
		appendStringInfo(out, " %s", lexer->kind == TDE_ORACLE_STRING ? quote_literal_cstr(lexer->token) : lexer->token);
		tde_oracle_lexer_next(lexer);
	}
}

/* ---- constraints ---- */

/* Copies columns in parentheses. */
static void
copy_names(TdeOracleLexer *lexer, StringInfo out)
{
	char	   *separator = " (";

	tde_oracle_lexer_expect(lexer, "(");
	do
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfo(out, "%s%s", separator, tde_oracle_lexer_name(lexer));
		separator = ", ";
	} while (tde_oracle_lexer_accept(lexer, ","));
	tde_oracle_lexer_expect(lexer, ")");
	appendStringInfoChar(out, ')');
}

/* Copies REFERENCES with its columns and action; Oracle has ON DELETE CASCADE and SET NULL alone. */
static void
copy_references(TdeOracleLexer *lexer, StringInfo out)
{
	appendStringInfo(out, " REFERENCES %s", tde_oracle_clauses_table_name(lexer));
	if (tde_oracle_lexer_is(lexer, "("))
		copy_names(lexer, out);
	if (!tde_oracle_lexer_accept(lexer, "ON"))
		return;
	tde_oracle_lexer_expect(lexer, "DELETE");
	if (tde_oracle_lexer_accept(lexer, "CASCADE"))
	{
		appendStringInfoString(out, " ON DELETE CASCADE");
		return;
	}
	tde_oracle_lexer_expect(lexer, "SET");
	tde_oracle_lexer_expect(lexer, "NULL");
	appendStringInfoString(out, " ON DELETE SET NULL");
}

static void
copy_check(TdeOracleLexer *lexer, StringInfo out)
{
	tde_oracle_lexer_expect(lexer, "(");
	appendStringInfoString(out, " CHECK (");
	tde_oracle_clauses_expression(lexer, true, out);
	tde_oracle_lexer_expect(lexer, ")");
	appendStringInfoString(out, ")");
}

/* Passes over what may stand behind a constraint.  DISABLE and its like are not passed over: the constraint does not hold there. */
static void
skip_state(TdeOracleLexer *lexer)
{
	static const char *const words[] = {"ENABLE", "VALIDATE", "NORELY", NULL};

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (tde_oracle_lexer_accept(lexer, "USING"))
		{
			tde_oracle_lexer_expect(lexer, "INDEX");
			tde_oracle_clauses_skip_storage(lexer);
		}
		else if (tde_oracle_lexer_is_any(lexer, words))
			tde_oracle_lexer_next(lexer);
		else
			return;
	}
}

/* A word CONSTRAINT without a constraint that is known is an error; otherwise nothing was taken. */
bool
tde_oracle_clauses_constraint(TdeOracleLexer *lexer, bool of_table, StringInfo out)
{
	bool		named = tde_oracle_lexer_accept(lexer, "CONSTRAINT");

	if (named)
		appendStringInfo(out, " CONSTRAINT %s", tde_oracle_lexer_name(lexer));
	if (tde_oracle_lexer_accept(lexer, "PRIMARY"))
	{
		tde_oracle_lexer_expect(lexer, "KEY");
		appendStringInfoString(out, " PRIMARY KEY");
		if (of_table)
			copy_names(lexer, out);
	}
	else if (tde_oracle_lexer_accept(lexer, "UNIQUE"))
	{
		appendStringInfoString(out, " UNIQUE");
		if (of_table)
			copy_names(lexer, out);
	}
	else if (tde_oracle_lexer_accept(lexer, "CHECK"))
		copy_check(lexer, out);
	else if (of_table && tde_oracle_lexer_accept(lexer, "FOREIGN"))
	{
		tde_oracle_lexer_expect(lexer, "KEY");
		appendStringInfoString(out, " FOREIGN KEY");
		copy_names(lexer, out);
		tde_oracle_lexer_expect(lexer, "REFERENCES");
		copy_references(lexer, out);
	}
	else if (!of_table && tde_oracle_lexer_accept(lexer, "REFERENCES"))
		copy_references(lexer, out);
	else if (!of_table && tde_oracle_lexer_accept(lexer, "NOT"))
	{
		tde_oracle_lexer_expect(lexer, "NULL");
		appendStringInfoString(out, " NOT NULL");
	}
	else if (!of_table && tde_oracle_lexer_accept(lexer, "NULL"))
		;
	else if (named)
		tde_oracle_lexer_refuse(lexer, NULL);
	else
		return false;
	skip_state(lexer);
	return true;
}
