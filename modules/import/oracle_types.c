/*
 * oracle_types.c - types of Oracle's columns, and their ENCRYPT clauses, as ours.
 *
 * A type becomes the one that is nearest to it, and may be wider: NUMBER is numeric, and DATE, which has a time of day, is timestamp(0).
 */
#include "postgres.h"

#include "import/oracle_types.h"

/* What is between the parentheses behind the type's name. */
typedef enum Arguments
{
	NONE,
	LENGTH,						/* (n [BYTE | CHAR]) */
	NUMERIC,					/* [(p [, s])] */
	DROPPED						/* [(n)], of which nothing is kept */
} Arguments;

/* Types of one word.  The modifiers are those of a type without arguments. */
static const struct
{
	const char *name;
	Arguments	arguments;
	TdeOracleType type;
}			types[] = {
	{"VARCHAR2", LENGTH, {"varchar", "encrypted_varchar", ""}},
	{"NVARCHAR2", LENGTH, {"varchar", "encrypted_varchar", ""}},
	{"VARCHAR", LENGTH, {"varchar", "encrypted_varchar", ""}},
	{"CHAR", LENGTH, {"char", "encrypted_bpchar", "1"}},
	{"NCHAR", LENGTH, {"char", "encrypted_bpchar", "1"}},
	{"CLOB", NONE, {"text", "encrypted_text", ""}},
	{"NCLOB", NONE, {"text", "encrypted_text", ""}},
	{"BLOB", NONE, {"bytea", "encrypted_bytea", ""}},
	{"RAW", DROPPED, {"bytea", "encrypted_bytea", ""}},
	{"NUMBER", NUMERIC, {"numeric", "encrypted_numeric", ""}},
	{"NUMERIC", NUMERIC, {"numeric", "encrypted_numeric", "38"}},
	{"DECIMAL", NUMERIC, {"numeric", "encrypted_numeric", "38"}},
	{"INTEGER", NONE, {"numeric", "encrypted_numeric", "38"}},
	{"INT", NONE, {"numeric", "encrypted_numeric", "38"}},
	{"SMALLINT", NONE, {"numeric", "encrypted_numeric", "38"}},
	{"FLOAT", DROPPED, {"double precision", "encrypted_float8", ""}},
	{"REAL", NONE, {"double precision", "encrypted_float8", ""}},
	{"BINARY_FLOAT", NONE, {"real", "encrypted_float4", ""}},
	{"BINARY_DOUBLE", NONE, {"double precision", "encrypted_float8", ""}},
	{"DATE", NONE, {"timestamp", "encrypted_timestamp", "0"}},
	{"ROWID", NONE, {"varchar", "encrypted_varchar", "18"}},
	{"BOOLEAN", NONE, {"boolean", "encrypted_bool", ""}},
	{"JSON", NONE, {"jsonb", "encrypted_jsonb", ""}},
	{"XMLTYPE", NONE, {"xml", NULL, ""}}
};

/* Those of more than one word. */
static const char *const others[] = {"TIMESTAMP", "INTERVAL", "LONG", "DOUBLE", NULL};

bool
tde_oracle_type_is_next(const TdeOracleLexer *lexer)
{
	for (int i = 0; i < lengthof(types); i++)
		if (tde_oracle_lexer_is(lexer, types[i].name))
			return true;
	return tde_oracle_lexer_is_any(lexer, others);
}

/* Returns the number in parentheses as text; without: if there are none.  Bytes count as characters here. */
static const char *
read_length(TdeOracleLexer *lexer, const char *without)
{
	int			length;

	if (!tde_oracle_lexer_accept(lexer, "("))
		return without;
	length = tde_oracle_lexer_number(lexer);
	(void) (tde_oracle_lexer_accept(lexer, "BYTE") || tde_oracle_lexer_accept(lexer, "CHAR"));
	tde_oracle_lexer_expect(lexer, ")");
	return psprintf("%d", length);
}

/* (p), (p, s), (*, s), where the scale may be negative. */
static const char *
read_precision(TdeOracleLexer *lexer, const char *without)
{
	int			precision = 38;
	const char *sign;
	const char *result;

	if (!tde_oracle_lexer_accept(lexer, "("))
		return without;
	if (!tde_oracle_lexer_accept(lexer, "*"))
		precision = tde_oracle_lexer_number(lexer);
	result = psprintf("%d", precision);
	if (tde_oracle_lexer_accept(lexer, ","))
	{
		sign = tde_oracle_lexer_accept(lexer, "-") ? "-" : "";
		result = psprintf("%d,%s%d", precision, sign, tde_oracle_lexer_number(lexer));
	}
	tde_oracle_lexer_expect(lexer, ")");
	return result;
}

/* TIMESTAMP [(n)] [WITH [LOCAL] TIME ZONE]; PostgreSQL's timestamptz is Oracle's with LOCAL, and keeps no zone. */
static TdeOracleType
read_timestamp(TdeOracleLexer *lexer)
{
	TdeOracleType type = {"timestamp", "encrypted_timestamp", "6"};

	type.modifiers = read_length(lexer, "6");
	if (atoi(type.modifiers) > 6)
	{
		ereport(NOTICE, (errmsg("line %d: timestamps have microseconds here, no nanoseconds", lexer->line)));
		type.modifiers = "6";
	}
	if (!tde_oracle_lexer_accept(lexer, "WITH"))
		return type;
	(void) tde_oracle_lexer_accept(lexer, "LOCAL");
	tde_oracle_lexer_expect(lexer, "TIME");
	tde_oracle_lexer_expect(lexer, "ZONE");
	return (TdeOracleType) {"timestamptz", "encrypted_timestamptz", type.modifiers};
}

/* Types of more than one word: TIMESTAMP, LONG [RAW], DOUBLE PRECISION, INTERVAL. */
static TdeOracleType
read_others(TdeOracleLexer *lexer)
{
	if (tde_oracle_lexer_accept(lexer, "TIMESTAMP"))
		return read_timestamp(lexer);
	if (tde_oracle_lexer_accept(lexer, "LONG"))
		return tde_oracle_lexer_accept(lexer, "RAW") ? (TdeOracleType) {"bytea", "encrypted_bytea", ""} :
			(TdeOracleType) {"text", "encrypted_text", ""};
	if (tde_oracle_lexer_accept(lexer, "DOUBLE"))
	{
		tde_oracle_lexer_expect(lexer, "PRECISION");
		return (TdeOracleType) {"double precision", "encrypted_float8", ""};
	}
	tde_oracle_lexer_expect(lexer, "INTERVAL");
	if (!tde_oracle_lexer_accept(lexer, "YEAR"))
		tde_oracle_lexer_expect(lexer, "DAY");
	(void) read_length(lexer, "");
	tde_oracle_lexer_expect(lexer, "TO");
	if (!tde_oracle_lexer_accept(lexer, "MONTH"))
		tde_oracle_lexer_expect(lexer, "SECOND");
	(void) read_length(lexer, "");
	return (TdeOracleType) {"interval", "encrypted_interval", ""};
}

TdeOracleType
tde_oracle_type(TdeOracleLexer *lexer)
{
	for (int i = 0; i < lengthof(types); i++)
	{
		TdeOracleType type = types[i].type;

		if (!tde_oracle_lexer_accept(lexer, types[i].name))
			continue;
		if (types[i].arguments == LENGTH)
			type.modifiers = read_length(lexer, type.modifiers);
		else if (types[i].arguments == NUMERIC)
			type.modifiers = read_precision(lexer, type.modifiers);
		else if (types[i].arguments == DROPPED)
			(void) read_length(lexer, "");
		return type;
	}
	if (!tde_oracle_lexer_is_any(lexer, others))
		tde_oracle_lexer_refuse(lexer, "It is no type that is known here: write one of PostgreSQL's there, by hand, in what comes out.");
	return read_others(lexer);
}

/* ---- ENCRYPT [USING 'algorithm'] [IDENTIFIED BY password] ['integrity'] [[NO] SALT] ---- */

/* Returns the modifier that stands for the string that is next; throws, with the hint, if there is none. */
static const char *
read_choice(TdeOracleLexer *lexer, const char *const(*choices)[2], int count, const char *hint)
{
	for (int i = 0; i < count && lexer->kind == TDE_ORACLE_STRING; i++)
		if (pg_strcasecmp(lexer->token, choices[i][0]) == 0)
		{
			tde_oracle_lexer_next(lexer);
			return choices[i][1];
		}
	tde_oracle_lexer_refuse(lexer, hint);
}

/* IDENTIFIED BY password.  While it is next, no error quotes a token. */
static void
pass_over_password(TdeOracleLexer *lexer)
{
	lexer->secret = true;
	tde_oracle_lexer_next(lexer);
	tde_oracle_lexer_expect(lexer, "BY");
	if (lexer->kind == TDE_ORACLE_END || lexer->kind == TDE_ORACLE_SYMBOL)
		tde_oracle_lexer_refuse(lexer, "Expected is a password.");
	tde_oracle_lexer_next(lexer);
	lexer->secret = false;
	ereport(NOTICE,
			(errmsg("line %d: no key comes from a password here", lexer->line),
			 errhint("To have the same key in several tables: SELECT tde_create_key('name'); and 'key=name' among the modifiers.")));
}

/* Defaults of Oracle's (AES192, SHA-1, SALT) are not written out: what a clause leaves open is as tde_column.default_spec has it here. */
char *
tde_oracle_type_spec(TdeOracleLexer *lexer)
{
	static const char *const algorithms[][2] = {{"AES128", "aes128"}, {"AES192", "aes192"}, {"AES256", "aes256"}, {"3DES168", "'3des168'"}};
	static const char *const integrity[][2] = {{"SHA-1", "mac"}, {"NOMAC", "nomac"}, {"GCM", "gcm"}};
	const char *algorithm = NULL;
	const char *mac = NULL;
	const char *salt = NULL;
	char	   *spec;

	if (tde_oracle_lexer_accept(lexer, "USING"))
		algorithm = read_choice(lexer, algorithms, lengthof(algorithms), "Algorithms are 'AES128', 'AES192', 'AES256' and '3DES168'.");
	if (tde_oracle_lexer_is(lexer, "IDENTIFIED"))
		pass_over_password(lexer);
	if (lexer->kind == TDE_ORACLE_STRING)
		mac = read_choice(lexer, integrity, lengthof(integrity), "Integrity is 'SHA-1', 'NOMAC' or 'GCM'.");
	if (tde_oracle_lexer_accept(lexer, "SALT"))
		salt = "salt";
	else if (tde_oracle_lexer_accept(lexer, "NO"))
	{
		tde_oracle_lexer_expect(lexer, "SALT");
		salt = "nosalt";
	}
	/* without both it must be CBC, as Oracle's is */
	if (mac && salt && strcmp(mac, "nomac") == 0 && strcmp(salt, "nosalt") == 0)
		mac = "nomac,cbc";
	spec = psprintf("%s%s%s%s%s", algorithm ? algorithm : "", algorithm && salt ? "," : "", salt ? salt : "",
					(algorithm || salt) && mac ? "," : "", mac ? mac : "");
	return spec;
}

char *
tde_oracle_type_text(const TdeOracleLexer *lexer, const TdeOracleType *type, const char *spec)
{
	const char *name = spec ? type->encrypted : type->plain;

	if (name == NULL)
		tde_oracle_lexer_refuse(lexer, "This type has no encrypted one.");
	if (spec == NULL)
		spec = "";
	if (*type->modifiers == '\0' && *spec == '\0')
		return pstrdup(name);
	return psprintf("%s(%s%s%s)", name, type->modifiers, *type->modifiers && *spec ? "," : "", spec);
}
