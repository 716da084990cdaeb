/*
 * sql_names.c - SQL's names of types after "encrypted_": encrypted_integer is encrypted_int4, as integer is int4.
 *
 * The parser makes PostgreSQL's name of a type out of SQL's words; after "encrypted_" they are a name like any other.  So the hook puts the name of
 * the type into declarations of columns, and what names such a type elsewhere, or by several words, gets a hint.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "nodes/parsenodes.h"
#include "parser/parse_type.h"
#include "parser/scansup.h"
#include "tcop/tcopprot.h"

#include "ddl/sql_names.h"

#define PREFIX	"encrypted_"

typedef struct SqlName
{
	const char *word;			/* after PREFIX, in SQL or in other databases */
	const char *type;			/* after PREFIX, ours */
} SqlName;

static const SqlName names[] = {
	{"bigint", "int8"},
	{"blob", "bytea"},
	{"boolean", "bool"},
	{"char", "bpchar"},
	{"character", "bpchar"},
	{"clob", "text"},
	{"datetime", "timestamp"},
	{"decimal", "numeric"},
	{"double", "float8"},
	{"float", "float8"},
	{"int", "int4"},
	{"integer", "int4"},
	{"number", "numeric"},
	{"real", "float4"},
	{"smallint", "int2"},
	{"string", "text"},
	{"varchar2", "varchar"},
};

/* PostgreSQL's types that tde_create_type() makes an encrypted one of, and nothing else does. */
static const char *const others[] = {
	"bit", "box", "cidr", "circle", "line", "lseg", "macaddr", "macaddr8", "money", "path", "pg_lsn", "point", "polygon", "tsquery", "tsvector",
	"varbit", "xml"
};

/* Names of several words, which are a syntax error at the second one. */
typedef struct Phrase
{
	const char *first;
	const char *second;
	const char *type;
} Phrase;

static const Phrase phrases[] = {
	{"encrypted_bit", "varying", "encrypted_varbit, of tde_create_type('varbit')"},
	{"encrypted_char", "varying", "encrypted_varchar"},
	{"encrypted_character", "varying", "encrypted_varchar"},
	{"encrypted_double", "precision", "encrypted_float8"},
	{"encrypted_time", "with", "encrypted_timetz"},
	{"encrypted_timestamp", "with", "encrypted_timestamptz"},
	{"encrypted_time", "without", "encrypted_time"},
	{"encrypted_timestamp", "without", "encrypted_timestamp"},
};

/* Returns the name of ours that is meant by this one; NULL if it is none of SQL's. */
static const char *
meant_name(const char *name)
{
	if (strncmp(name, PREFIX, strlen(PREFIX)) == 0)
		for (int i = 0; i < lengthof(names); i++)
			if (strcmp(name + strlen(PREFIX), names[i].word) == 0)
				return psprintf(PREFIX "%s", names[i].type);
	return NULL;
}

/* In SQL, char is char(1).  A declaration may have words of ours among its modifiers: encrypted_char(aes128) has no length. */
static void
add_length(TypeName *name)
{
	Node	   *first = name->typmods ? linitial(name->typmods) : NULL;
	A_Const    *one;

	if (first && IsA(first, A_Const) && IsA(&((A_Const *) first)->val, Integer))
		return;
	one = makeNode(A_Const);
	one->val.ival.type = T_Integer;
	one->val.ival.ival = 1;
	one->location = -1;
	name->typmods = lcons(one, name->typmods);
}

void
tde_sql_names_adopt(TypeName *name)
{
	const char *meant = list_length(name->names) == 1 ? meant_name(strVal(linitial(name->names))) : NULL;
	TypeName	bare = *name;

	bare.typmods = NIL;
	bare.arrayBounds = NIL;
	if (meant == NULL || OidIsValid(LookupTypeNameOid(NULL, &bare, true)))
		return;
	name->names = list_make1(makeString(pstrdup(meant)));
	if (strcmp(meant, PREFIX "bpchar") == 0)
		add_length(name);
}

/* ---- hints ---- */

/* Returns the word that begins there; NULL if none does. */
static const char *
word_at(const char *text)
{
	int			length = 0;

	while (isalnum((unsigned char) text[length]) || text[length] == '_')
		length++;
	return length > 0 ? downcase_truncate_identifier(text, length, false) : NULL;
}

/* Returns the word that ends before this place of the text, but for spaces; NULL if none does. */
static const char *
word_before(const char *text, const char *place)
{
	const char *start;

	while (place > text && scanner_isspace(place[-1]))
		place--;
	for (start = place; start > text && (isalnum((unsigned char) start[-1]) || start[-1] == '_'); start--)
		 /* the word's beginning */ ;
	return start < place ? downcase_truncate_identifier(start, place - start, false) : NULL;
}

/*
 * Returns the type that is meant by two words, of which the second begins at this character of the text, from 1 on: encrypted_timestamp without.
 * NULL if none is.
 */
static const char *
meant_phrase(const char *text, int position)
{
	const char *place = text + pg_mbcharcliplen(text, strlen(text), position - 1);
	const char *first = word_before(text, place);
	const char *second = word_at(place);

	for (int i = 0; first && second && i < lengthof(phrases); i++)
		if (strcmp(first, phrases[i].first) == 0 && strcmp(second, phrases[i].second) == 0)
			return phrases[i].type;
	return NULL;
}

/* Returns what to do about a type that there is none of; NULL if nothing is known.  name begins with PREFIX. */
static char *
explain_type(const char *name)
{
	const char *meant = meant_name(name);

	if (meant)
		return psprintf("Write %s.", meant);
	name += strlen(PREFIX);
	if (strcmp(name, "serial") == 0 || strcmp(name, "bigserial") == 0)
		return psprintf("Write %s%s NOT NULL, and run ALTER TABLE ... ALTER COLUMN ... ADD GENERATED BY DEFAULT AS IDENTITY.", PREFIX, *name == 'b' ? "int8" : "int4");
	for (int i = 0; i < lengthof(others); i++)
		if (strcmp(name, others[i]) == 0)
			return psprintf("A superuser makes it: SELECT tde_create_type('%s');", name);
	return NULL;
}

/* Returns true for the words at which Oracle's ALTER TABLE ... MODIFY (... ENCRYPT), and CREATE TABLE (... ENCRYPT), cannot be parsed. */
static bool
is_oracle(const char *word, const char *text)
{
	if (strcmp(word, "modify") == 0)
		for (; *text != '\0'; text++)
			if (pg_strncasecmp(text, "encrypt", strlen("encrypt")) == 0)
				return true;
	return strcmp(word, "encrypt") == 0;
}

/* Returns what to do about a text that cannot be parsed at this character, from 1 on; NULL if nothing is known. */
static char *
explain_syntax(const char *text, int position)
{
	const char *place = text + pg_mbcharcliplen(text, strlen(text), position - 1);
	const char *meant = meant_phrase(text, position);
	const char *word = word_at(place);

	if (meant)
		return psprintf("Write %s.", meant);
	if (word && strcmp(word, "3des168") == 0)
		return pstrdup("Quote it: '3des168'.");
	if (word && is_oracle(word, text))
		return pstrdup("Declare an encrypted type, such as encrypted_text.  To encrypt a column that is there: CALL tde_encrypt_column('TABLE', 'COLUMN');");
	return NULL;
}

void
tde_sql_names_explain(ErrorData *edata)
{
	const char *text = edata->internalquery ? edata->internalquery : debug_query_string;
	int			position = edata->internalquery ? edata->internalpos : edata->cursorpos;
	const char *name = edata->message ? strstr(edata->message, PREFIX) : NULL;

	if (edata->hint)
		return;
	if (edata->sqlerrcode == ERRCODE_UNDEFINED_OBJECT && name && word_at(name))
		edata->hint = explain_type(word_at(name));
	else if (edata->sqlerrcode == ERRCODE_SYNTAX_ERROR && text && position > 0)
		edata->hint = explain_syntax(text, position);
}
