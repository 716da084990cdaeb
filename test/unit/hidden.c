/*
 * hidden.c - statements that pass a secret are told from others, by their text; what messages quote is overwritten.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "crypto/quotations.h"
#include "crypto/secret_calls.h"

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

static const char *const hidden[] = {
	/* what passes something */
	"SELECT tde_wallet_open('geheim')",
	"SELECT tde_wallet_open('')",
	"SELECT tde_wallet_open(E'ge\\'heim')",
	"SELECT tde_wallet_open($a$geheim$a$)",
	"SELECT tde_wallet_open(geheim)",
	"SELECT tde_wallet_open(\"geheim\")",
	"SELECT tde_wallet_open(12345)",
	"SELECT tde_wallet_open($1)",
	"SELECT tde_wallet_open((SELECT 'geheim'))",
	"SELECT tde_wallet_open(NULL, 'geheim')",
	"SELECT tde_wallet_open(passphrase => 'geheim')",
	"SELECT tde_wallet_open(x) FROM (VALUES ('geheim')) AS v (x)",
	"WITH x AS (SELECT $1::text AS p) SELECT tde_wallet_open(p) FROM x",
	"SELECT tde_wallet_create('geheim'), 1",
	"SELECT tde_wallet_change_passphrase('geheim')",
	"SELECT tde_wallet_open_share('geheim')",
	"SELECT tde_export_keys('geheim', true)",
	"SELECT tde_import_keys('text', 'geheim')",
	"SELECT tde_open_envelope('fernet', c, 'geheim') FROM t",
	"SELECT tde_import_oracle_ddl('CREATE TABLE t (a DATE ENCRYPT IDENTIFIED BY geheim)')",
	/* broken off */
	"SELECT tde_wallet_open('geheim",
	"SELECT tde_wallet_open($x$geheim",
	"SELECT 'x /* tde_wallet_open('geheim')",
	"SELET tde_wallet_open('geheim')",
	/* what is the name */
	"SELECT public.tde_wallet_open ( 'geheim' )",
	"SELECT \"public\" . \"tde_wallet_open\" ('geheim')",
	"SELECT \"tde_wallet_open\" /* ( */ ('geheim')",
	"SELECT TDE_Wallet_OPEN-- (\n('geheim')",
	"SELECT U&\"tde_w\\0061llet_open\"('geheim')",
	"SELECT U&\"\\0074\\0064\\0065_wallet_open\"('geheim')",
	"SELECT U&\"!+000074de_wallet_open\" UESCAPE '!' ('geheim')",
	"SELECT U&\"a\", E'x\\ntde_wallet_open(\\'geheim\\')'",
	"SELECT * FROM tde_wallet_opne('geheim')",
	"SELECT * FROM tde_walet_open('geheim')",
	"SELECT * FROM tde_wallets_open('geheim')",
	"SELECT * FROM tde_export_key('geheim')",
	/* in code, in a literal, in a comment */
	"DO $$BEGIN PERFORM tde_wallet_open('geheim'); END$$",
	"DO 'BEGIN PERFORM tde_wallet_open(''geheim''); END'",
	"DO E'BEGIN\\nPERFORM\\ntde_wallet_open(\\'geheim\\'); END'",
	"DO $$BEGIN EXECUTE format('SELECT tde_wallet_open(%L)', 'geheim'); END$$",
	"DO $$BEGIN EXECUTE format('SELECT %I(%L)', 'tde_wallet_open', 'geheim'); END$$",
	"DO $$BEGIN EXECUTE 'SELECT tde_wallet_open' || '(' || quote_literal('geheim') || ')'; END$$",
	"DO $$BEGIN EXECUTE 'SELECT tde_wallet_open($1)' USING 'geheim'; END$$",
	"DO $$DECLARE p text := 'geheim'; BEGIN PERFORM tde_wallet_open(p); END$$",
	"SELECT 1 /* tde_wallet_open('geheim') */",
	"SELECT 1 -- tde_wallet_open('geheim')",
	"SELECT 'tde_wallet_open(', 'seen'",
	"CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $f$SELECT tde_wallet_open('geheim')$f$",
	/* entries of the log */
	"duration: 0.1 ms  statement: SELECT tde_wallet_open('geheim')",
	"SQL statement \"SELECT \"Foo\", tde_wallet_open('ge\"heim')\"",
	"{\n \"Query Text\": \"SELECT -- x\\ntde_wallet_open('geheim')\"",
	"{\n \"Query Text\": \"SELECT \\\"tde_wallet_open\\\"(\\\"geheim\\\")\"",
	"AUDIT: SESSION,1,1,READ,SELECT,,,\"SELECT \"\"tde_wallet_open\"\"('a,b', \"\"c d\"\")\",<none>",
	/* the view */
	"INSERT INTO tde.passphrase VALUES ('geheim')",
	"INSERT INTO TDE.PASSPHRASE VALUES ('geheim')",
	"INSERT INTO passphrase VALUES ('geheim')",
	"INSERT INTO \"tde\" . \"passphrase\" VALUES ($1)",
	"COPY tde.passphrase FROM PROGRAM 'echo geheim'",
};

static const char *const seen[] = {
	"SELECT 1",
	"SELECT tde_wallet_open(), 'seen'",
	"SELECT tde_wallet_open(NULL), tde_wallet_open ( ), 'seen'",
	"SELECT tde_wallet_create(NULL, NULL)",
	"SELECT tde_export_keys(NULL, true)",
	"COPY tde.passphrase FROM STDIN",
	"COPY tde.passphrase (secret) FROM STDIN",
	"GRANT INSERT ON tde.passphrase TO seen",
	"SELECT passphrase FROM seen WHERE passphrase = 'seen'",
	"SELECT 'seen' /* tde_wallet_ */",
	"SELECT lower('seen') -- tde_wallet_open(",
	"SELECT 'tde_wallet_open', ('seen')",
	"SELECT * FROM pg_proc WHERE proname = 'tde_wallet_open'",
	"SELECT * FROM tde_wallet_history WHERE a IN ('seen')",
	"CREATE TABLE s.tde_wallet_history (a text DEFAULT 'seen')",
	"SELECT my_tde_wallet_open('seen'), tde_wallet('seen'), tde_rekey_table('seen')",
	"SELECT tde_wallet_split(3, 5), tde_wallet_status('seen'), tde_wallet_close('seen'), tde_wallet_save('seen')",
	"SELECT tde_create_key('seen'), tde_rotate_key('seen'), tde_destroy_key('seen', 'seen'), tde_ensure_keys('seen')",
	"GRANT EXECUTE ON FUNCTION public.tde_wallet_open(text) TO alice",
	"GRANT EXECUTE ON FUNCTION public.tde_import_keys(text, pg_catalog.text, boolean) TO alice",
	"COMMENT ON FUNCTION tde_wallet_open(text) IS 'seen'",
	"SELECT has_function_privilege('low', 'public.tde_wallet_open(text)', 'execute')",
	"SELECT U&\"s\\0065en\", 'tde_wallet_close'('seen')",
	"function tde_wallet_open(text, boolean) does not exist",
	"permission denied for function tde_wallet_open",
};

/* On the heap, so that the sanitizer sees what goes beyond the end. */
static char *
copy_of(const char *text)
{
	return strcpy(malloc(strlen(text) + 1), text);
}

static void
test_texts(const char *const *texts, int count, bool expected)
{
	for (int i = 0; i < count; i++)
	{
		char	   *text = copy_of(texts[i]);

		ok((tde_secret_call(text) != NULL) == expected, "%s: %s", expected ? "hidden" : "seen", texts[i]);
		free(text);
	}
}

/* Every beginning of every text: the search stays within it, and finds the call when the first letter of the secret is there. */
static void
test_prefixes(void)
{
	int			leaks = 0;

	for (int i = 0; i < COUNT(hidden); i++)
		for (size_t size = 0; size <= strlen(hidden[i]); size++)
		{
			char	   *text = copy_of(hidden[i]);
			char	   *call = strstr(text, "tde_wallet_open(");

			text[size] = '\0';
			leaks += call != NULL && call < text + size && strchr(call, 'g') != NULL && tde_secret_call(text) == NULL;
			free(text);
		}
	ok(leaks == 0, "no secret is seen in a text that is cut off");
}

static void
test_names(void)
{
	ok(strcmp(tde_secret_call("SELECT tde_wallet_open_share('x')"), "tde_wallet_open_share") == 0, "the call is named");
	ok(strcmp(tde_secret_call("SELECT tde_wallet_opne('x')"), "tde_wallet_open") == 0, "also when it is misspelt");
	ok(strcmp(tde_secret_call("INSERT INTO tde.passphrase VALUES ('x')"), "tde.passphrase") == 0, "so is the view");
	ok(tde_secret_has_parameter("SELECT $1") && !tde_secret_has_parameter("SELECT $a$b$a$, '$'"), "parameters");
	ok(tde_secret_has_execute("DO 'execute ''EXECUTE p(1)'' '") && tde_secret_has_execute("Execute p") && tde_secret_has_execute("EXECUTE only(1)") &&
	   !tde_secret_has_execute("GRANT EXECUTE ON x") && !tde_secret_has_execute("CREATE TRIGGER x EXECUTE  FUNCTION f()") && !tde_secret_has_execute("SELECT 1"),
	   "EXECUTE");
}

static void
test_noise(void)
{
	static const char *const pieces[] = {
		"tde_wallet_open(", "'", "''", "\"", "$$", "$a$", "\\", "--", "/*", "*/", "\n", "(", ")", ",", ";", "E'", "U&\"", "x", "$1", "%", "tde_",
		"tde.passphrase", "execute ", "uescape '"
	};
	uint32_t	state = 1;

	for (int i = 0; i < 20000; i++)
	{
		char		text[600] = "";
		char	   *copy;

		for (int j = 0; j < 30; j++)
		{
			state = state * 1664525 + 1013904223;
			strcat(text, pieces[(state >> 16) % COUNT(pieces)]);
		}
		copy = copy_of(text);
		(void) tde_secret_call(copy);
		(void) tde_secret_has_execute(copy);
		(void) tde_secret_has_parameter(copy);
		tde_quotations_redact(copy, text, text);
		tde_quotations_redact_numbers(copy, text, text);
		if (strlen(copy) != strlen(text))
			ok(false, "the length stays");
		free(copy);
	}
	ok(true, "noise does no harm");
}

/* What could take forever. */
static void
test_size(void)
{
	static const char *const pieces[] = {
		"tde_wallet_", "tde_wallet_open() ", "'tde_wallet_open' ", "tde_wallet_ope . ", "tde_wallet_open ", "tde.passphrase ", "passphrase ",
		"tde_wallet_open(text, ", "tde_", "U&\"\"", "U&\"\" uescape ", "\\", "tde_wallet_openxxx ", "execute on ", "tde_wallet_open\n\n\n\n\n"
	};

	for (int i = 0; i < COUNT(pieces); i++)
	{
		size_t		size = strlen(pieces[i]);
		char	   *text = malloc(300000 + 100);
		char	   *p = text;

		for (size_t j = 0; j < 300000 / size; j++, p += size)
			memcpy(p, pieces[i], size);
		*p = '\0';
		(void) tde_secret_call(text);
		(void) tde_secret_has_execute(text);
		free(text);
	}
	ok(true, "long texts");
}

static void
is_text(char *text, const char *expected, const char *name)
{
	ok(strcmp(text, expected) == 0, "%s", name);
	if (strcmp(text, expected) != 0)
		printf("# %s\n# %s\n", text, expected);
	free(text);
}

static void
test_quotations(void)
{
	static const struct
	{
		const char *message,
				   *format,
				   *keep,
				   *expected;
	}			cases[] = {
		{"invalid input syntax for type integer: \"123-45\"", "invalid input syntax for type %s: \"%s\"", NULL,
		"invalid input syntax for type integer: \"******\""},
		{"invalid value for parameter \"work_mem\": \"a\"", "invalid value for parameter \"%s\": \"%s\"", "set_config('work_mem', a1)",
		"invalid value for parameter \"work_mem\": \"*\""},
		{"invalid value for parameter \"x\": \"a\" secret \"b\"", "invalid value for parameter \"%s\": \"%s\"", NULL,
		"invalid value for parameter \"*****************\""},
		{"no operand in tsquery: \"a\" b\"", "no operand in tsquery: \"%s\"", NULL, "no operand in tsquery: \"****\""},
		{"broken: \"secret", "broken: \"%s", NULL, "broken: \"******"},
		{"invalid: \302\253 secret \302\273", "invalid: \"%s\"", NULL, "invalid: \302\253********\302\273"},
		{"column \"foo\" does not exist", "column \"%s\" does not exist", "SELECT Foo", "column \"foo\" does not exist"},
		{"column \"foo\" does not exist", "column \"%s\" does not exist", "SELECT Foobar", "column \"***\" does not exist"},
		{"division by zero", "division by zero", NULL, "division by zero"},
		{"secret \"x\" y", NULL, NULL, "secret \"*\" y"},
		{"date field value out of range: 1999-13-40", "date field value out of range: %d-%02d-%02d", NULL, "date field value out of range: ****-**-**"},
		{"value -4111 is not between 0 and 1", "value %d is not between 0 and 1", NULL, "value -**** is not between 0 and 1"},
		{"value 1.5e10, 0x1f", "value %g, %x", NULL, "value ******, ****"},
		{"value too long for type numeric(10,2)", "value too long for type %s", NULL, "value too long for type numeric(10,2)"},
		{"dimensions (10)", "dimensions (%d)", NULL, "dimensions (**)"},
		{"no parameter $1 of int4 in x_2", "no parameter $%d of %s in %s", NULL, "no parameter $1 of int4 in x_2"},
		{"no relation with OID 17 and 7", "no relation with OID %u and %u", "SELECT 17", "no relation with OID 17 and *"},
		{"12", NULL, NULL, "**"},
	};

	for (int i = 0; i < (int) (sizeof(cases) / sizeof(cases[0])); i++)
	{
		char	   *text = copy_of(cases[i].message);

		tde_quotations_redact(text, cases[i].format, cases[i].keep);
		tde_quotations_redact_numbers(text, cases[i].format, cases[i].keep);
		is_text(text, cases[i].expected, cases[i].message);
	}
}

int
main(void)
{
	test_texts(hidden, COUNT(hidden), true);
	test_texts(seen, COUNT(seen), false);
	test_prefixes();
	test_names();
	test_noise();
	test_size();
	test_quotations();
	return tap_done();
}
