/*
 * redact.c - secrets in the text of statements are overwritten, and nothing else is.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "crypto/statement_tokens.h"
#include "crypto/statement_secrets.h"

typedef struct Case
{
	const char *text;
	const char *expected;		/* NULL: unchanged */
} Case;

static const Case calls[] = {
	/* what is a literal */
	{"SELECT tde_wallet_open('geheim')", "SELECT tde_wallet_open('******')"},
	{"SELECT tde_wallet_open('')", NULL},
	{"SELECT tde_wallet_open('ge''heim'), 'seen'", "SELECT tde_wallet_open('********'), 'seen'"},
	{"SELECT tde_wallet_open(E'ge\\'heim'), 'seen'", "SELECT tde_wallet_open(E'********'), 'seen'"},
	{"SELECT tde_wallet_open(e'ge\\\\'), 'seen'", "SELECT tde_wallet_open(e'****'), 'seen'"},
	{"SELECT tde_wallet_open('ge\\'), 'seen'", "SELECT tde_wallet_open('***'), 'seen'"},
	{"SELECT tde_wallet_open(U&'ge\\0068eim')", "SELECT tde_wallet_open(U&'**********')"},
	{"SELECT tde_wallet_open($$geheim$$)", "SELECT tde_wallet_open($$******$$)"},
	{"SELECT tde_wallet_open($a$ge$$heim$a$), $$seen$$", "SELECT tde_wallet_open($a$********$a$), $$seen$$"},
	{"SELECT tde_wallet_open('ge'\n  'heim')", "SELECT tde_wallet_open('**'\n  '****')"},
	{"SELECT tde_wallet_open('ge' || lower('HEIM')) || 'seen'", "SELECT tde_wallet_open('**' || lower('****')) || 'seen'"},
	{"SELECT tde_wallet_open((SELECT 'geheim')), 'seen'", "SELECT tde_wallet_open((SELECT '******')), 'seen'"},
	{"SELECT tde_wallet_open(passphrase => 'geheim')", "SELECT tde_wallet_open(passphrase => '******')"},
	{"SELECT tde_wallet_open(text 'geheim'::text)", "SELECT tde_wallet_open(text '******'::text)"},
	{"SELECT tde_wallet_open('ge)heim'), 'seen'", "SELECT tde_wallet_open('*******'), 'seen'"},
	{"SELECT tde_wallet_open('ge--heim'), 'seen'", "SELECT tde_wallet_open('********'), 'seen'"},
	{"SELECT tde_wallet_open('ge/*heim'), 'seen'", "SELECT tde_wallet_open('********'), 'seen'"},
	{"SELECT tde_wallet_open(geheim)", "SELECT tde_wallet_open(******)"},
	{"SELECT tde_wallet_open(\"geheim\")", "SELECT tde_wallet_open(\"******\")"},
	{"SELECT tde_wallet_open(12345)", "SELECT tde_wallet_open(*****)"},
	{"SELECT tde_wallet_open(NULL), tde_wallet_open(), 'seen'", NULL},
	{"SELECT tde_wallet_open($1)", NULL},
	{"SELECT tde_import_keys('text', 'geheim'), 'seen'", "SELECT tde_import_keys('****', '******'), 'seen'"},
	/* broken off */
	{"SELECT tde_wallet_open('geheim'", "SELECT tde_wallet_open('******'"},
	{"SELECT tde_wallet_open('geheim", "SELECT tde_wallet_open('******"},
	{"SELECT tde_wallet_open(geheim", "SELECT tde_wallet_open(******"},
	{"SELECT tde_wallet_open($x$geheim", "SELECT tde_wallet_open($x$******"},
	{"SELECT tde_wallet_open('geheim' 1/0", "SELECT tde_wallet_open('******' */*"},
	{"SELECT 'x /* tde_wallet_open('geheim')", "SELECT 'x /* tde_wallet_open('******')"},
	/* what is the name */
	{"SELECT public.tde_wallet_open ( 'geheim' )", "SELECT public.tde_wallet_open ( '******' )"},
	{"SELECT \"public\" . \"tde_wallet_open\" /* ( */ ('geheim')", "SELECT \"public\" . \"tde_wallet_open\" /* ( */ ('******')"},
	{"SELECT TDE_Wallet_OPEN-- (\n('geheim')", "SELECT TDE_Wallet_OPEN-- (\n('******')"},
	{"SELECT U&\"tde_w\\0061llet_open\"('geheim')", "SELECT U&\"tde_w\\0061llet_open\"('******')"},
	{"SELECT U&\"!+000074de_wallet_open\" UESCAPE '!' ('geheim')", "SELECT U&\"!+000074de_wallet_open\" UESCAPE '!' ('******')"},
	{"SELECT * FROM tde_wallet_opne('geheim')", "SELECT * FROM tde_wallet_opne('******')"},
	{"SELET tde_wallet_open('geheim')", "SELET tde_wallet_open('******')"},
	/* what is none */
	{"SELECT 'seen' /* tde_wallet_ */", NULL},
	{"SELECT 'seen' /* tde_wallet_open( */ , lower('seen')", NULL},
	{"SELECT 'seen' /* /* */ tde_wallet_open('seen') */", NULL},
	{"SELECT lower('seen') -- tde_wallet_open(\n, 'seen'", NULL},
	{"SELECT 'tde_wallet_open(', 'seen'", NULL},
	{"SELECT 'tde_wallet_open', ('seen')", NULL},
	{"UPDATE t SET a = 'seen', \"tde_wallet_open(\" = 'seen'", NULL},
	{"SELECT * FROM tde_wallet_history WHERE a IN ('seen')", NULL},
	{"CREATE TABLE s.tde_wallet_history (a text DEFAULT 'seen')", NULL},
	{"CREATE TABLE IF NOT EXISTS tde_wallet_history (a text DEFAULT 'seen')", NULL},
	{"INSERT INTO tde_wallet_history (a) VALUES ('seen')", NULL},
	{"SELECT my_tde_wallet_open('seen'), tde_wallet('seen'), tde_rekey_table('seen')", NULL},
	{"SELECT tde_wallet_split(3, 5), tde_wallet_status('seen'), tde_wallet_close('seen')", NULL},
	{"GRANT EXECUTE ON FUNCTION public.tde_wallet_open(text) TO alice", NULL},
	{"COMMENT ON FUNCTION tde_wallet_open(text) IS 'seen'", NULL},
	{"SELECT has_function_privilege('low', 'public.tde_wallet_open(text)', 'execute')", NULL},
	/* calls in literals */
	{"DO $$BEGIN PERFORM tde_wallet_open('geheim'); RAISE NOTICE 'seen'; END$$",
	"DO $$BEGIN PERFORM tde_wallet_open('******'); RAISE NOTICE 'seen'; END$$"},
	{"DO 'BEGIN PERFORM tde_wallet_open(''ge''''heim''); RAISE NOTICE ''seen''; END'",
	"DO 'BEGIN PERFORM tde_wallet_open(''**********''); RAISE NOTICE ''seen''; END'"},
	{"DO E'BEGIN\\nPERFORM tde_wallet_open(\\'geheim\\');\\n RAISE NOTICE \\'seen\\'; END'",
	"DO E'BEGIN\\nPERFORM tde_wallet_open(\\'******\\');\\n RAISE NOTICE \\'seen\\'; END'"},
	{"DO $$BEGIN EXECUTE 'SELECT tde_wallet_open(''geheim'')'; EXECUTE 'seen'; END$$",
	"DO $$BEGIN EXECUTE 'SELECT tde_wallet_open(''******'')'; EXECUTE 'seen'; END$$"},
	{"DO $$BEGIN EXECUTE format('SELECT tde_wallet_open(%L)', 'geheim'); RAISE NOTICE 'seen'; END$$",
	"DO $$BEGIN EXECUTE format('SELECT tde_wallet_open(%L)', '******'); RAISE NOTICE 'seen'; END$$"},
	{"DO $$BEGIN EXECUTE 'SELECT tde_wallet_open($1)' USING 'geheim'; RAISE NOTICE 'seen'; END$$",
	"DO $$BEGIN EXECUTE 'SELECT tde_wallet_open($1)' USING '******'; RAISE NOTICE 'seen'; END$$"},
	{"DO $$BEGIN EXECUTE 'SELECT tde_wallet_open(' || quote_literal('geheim') || ')'; RAISE NOTICE 'seen'; END$$",
	"DO $$BEGIN EXECUTE 'SELECT tde_wallet_open(' || quote_literal('******') || '*'; RAISE NOTICE 'seen'; END$$"},
	{"DO $$DECLARE P text := 'geheim'; q text := 'seen'; BEGIN PERFORM tde_wallet_open(p); END$$",
	"DO $$DECLARE P text := '******'; q text := '****'; BEGIN PERFORM tde_wallet_open(*); END$$"},
	{"DO $$DECLARE p text; BEGIN p := 'ge' || 'heim'; UPDATE t SET a = 'seen'; PERFORM tde_wallet_open(p); END$$",
	"DO $$DECLARE p text; BEGIN p := '**' || '****'; UPDATE t SET a = '****'; PERFORM tde_wallet_open(*); END$$"},
	{"DO $$DECLARE r record; BEGIN FOR r IN SELECT 'geheim' AS a LOOP PERFORM tde_wallet_open(r.a); END LOOP; END$$",
	"DO $$DECLARE r record; BEGIN FOR r IN SELECT '******' AS a LOOP PERFORM tde_wallet_open(r.a); END LOOP; END$$"},
	{"SELECT tde_wallet_open(x) FROM (VALUES ('geheim')) AS v (x)", "SELECT tde_wallet_open(*) FROM (VALUES ('******')) AS v (x)"},
	{"SELECT format('SELECT tde_wallet_open(%L)', 'geheim'), 'seen'",
	"SELECT format('SELECT tde_wallet_open(%L)', '******'), 'seen'"},
	{"CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $f$SELECT tde_wallet_open('geheim')$f$ SET a = 'seen'",
	"CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $f$SELECT tde_wallet_open('******')$f$ SET a = 'seen'"},
	{"UPDATE t SET owner = 'seen' WHERE tde_wallet_open(note) IS NULL AND a = 'seen'",
	"UPDATE t SET owner = '****' WHERE tde_wallet_open(****) IS NULL AND a = '****'"},
};

/* Entries of the log. */
static const Case entries[] = {
	{"duration: 0.1 ms  statement: SELECT tde_wallet_open('geheim')", "duration: 0.1 ms  statement: SELECT tde_wallet_open('******')"},
	{"SQL statement \"SELECT \"Foo\", tde_wallet_open('ge\"heim')\"", "SQL statement \"SELECT \"Foo\", tde_wallet_open('*******')\""},
	{"SQL statement \"SELECT tde_wallet_open(\"ge heim\")\"", "SQL statement \"SELECT tde_wallet_open(\"*******\")\""},
	{"{\n \"Query Text\": \"SELECT -- x\\ntde_wallet_open('geheim')\"", "{\n \"Query Text\": \"SELECT -- x\\ntde_wallet_open('******')\""},
	{"{\n \"Query Text\": \"SELECT \\\"tde_wallet_open\\\"(\\\"geheim\\\")\"", "{\n \"Query Text\": \"SELECT \\\"tde_wallet_open\\\"(\\\"******\\\")\""},
	{"AUDIT: SESSION,1,1,READ,SELECT,,,\"SELECT \"\"tde_wallet_open\"\"('a,b', \"\"c d\"\")\",<none>",
	"AUDIT: SESSION,1,1,READ,SELECT,,,\"SELECT \"\"tde_wallet_open\"\"('***', \"\"***\"\")\",<none>"},
	{"function tde_wallet_open(integer) does not exist", NULL},
	{"permission denied for function tde_wallet_open", NULL},
};

/* On the heap, so that the sanitizer sees what goes beyond the end. */
static char *
copy_of(const char *text)
{
	return strcpy(malloc(strlen(text) + 1), text);
}

static void
test_calls(const Case *cases, int count, int flags)
{
	for (int i = 0; i < count; i++)
	{
		char	   *text = copy_of(cases[i].text);
		const char *expected = cases[i].expected ? cases[i].expected : cases[i].text;
		TdeCalls	found = {0};

		tde_redact_calls(text, flags, &found);
		ok(strcmp(text, expected) == 0, "%s", cases[i].text);
		if (strcmp(text, expected) != 0)
			printf("# %s\n# %s\n", text, expected);
		free(text);
	}
}

/* Every beginning of every text: the scanner stays within it, and hides what it hid of the whole. */
static void
test_prefixes(void)
{
	int			leaks = 0;

	for (int i = 0; i < (int) (sizeof(calls) / sizeof(calls[0])); i++)
		for (size_t size = 0; size <= strlen(calls[i].text); size++)
			for (int flags = 0; flags < 4; flags++)
			{
				char	   *text = copy_of(calls[i].text);
				TdeCalls	found = {0};

				text[size] = '\0';
				tde_redact_calls(text, flags, &found);
				/* a variable's value comes before the call; and the other one can be valid SQL, with an alias */
				if (strstr(text, "geheim") && !strstr(text, "DECLARE") && !strstr(text, "'x /*"))
				{
					leaks++;
					printf("# %s\n", text);
				}
				free(text);
			}
	ok(leaks == 0, "no secret is seen in a text that is cut off");
}

static void
test_noise(void)
{
	static const char *const pieces[] = {
		"tde_wallet_open(", "'", "''", "\"", "$$", "$a$", "\\", "--", "/*", "*/", "\n", "(", ")", ",", ";", "E'", "U&\"", "x", "$1", "%", "tde_"
	};
	uint32_t	state = 1;

	for (int i = 0; i < 20000; i++)
	{
		char		text[400] = "";
		char	   *copy;
		TdeCalls	found = {0};

		for (int j = 0; j < 30; j++)
		{
			state = state * 1664525 + 1013904223;
			strcat(text, pieces[(state >> 16) % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
		copy = copy_of(text);
		tde_redact_calls(copy, i & 3, &found);
		tde_redact_parameters(copy, i & 3, 1);
		tde_redact_execute(copy, i & 3, 1);
		tde_redact_quotations(copy, text, text);
		tde_redact_audit(copy);
		tde_redact_literals(copy, i & 3);
		if (strlen(copy) != strlen(text))
			ok(false, "the length stays");
		free(copy);
	}
	ok(true, "noise does no harm");
}

/* What could take forever, or all of the stack. */
static void
test_size(void)
{
	static const char *const pieces[] = {
		"/*", "tde_wallet_open(", "'tde_wallet_open(' ", "tde_wallet_x /*", "then p ", "begin p := ", "'", "(", "$a$ ",
		"execute x(", "text,", "U&\"\"", "U&\"\" uescape ", "\\"
	};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
	{
		size_t		size = strlen(pieces[i]);
		char	   *text = malloc(3000000 + 100);
		char	   *p = text + sprintf(text, "DO $$ tde_wallet_open(p); ");
		TdeCalls	found = {0};

		for (size_t j = 0; j < 3000000 / size; j++, p += size)
			memcpy(p, pieces[i], size);
		*p = '\0';
		tde_redact_calls(text, i & 1, &found);
		tde_redact_execute(text, 0, 1);
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
test_found(void)
{
	TdeCalls	found = {0};
	char	   *text = copy_of("SELECT tde_wallet_open($2), $1");

	tde_redact_calls(text, 0, &found);
	ok(found.any && !found.masked && !found.elsewhere && found.parameters == 2, "which parameters are secret");
	free(text);

	text = copy_of("parameters: $1 = 'seen', $2 = 'ge''heim', $3 = NULL, $4 = 'seen'");
	tde_redact_parameters(text, TDE_REDACT_ENTRY, 2);
	is_text(text, "parameters: $1 = 'seen', $2 = '********', $3 = NULL, $4 = 'seen'", "parameters");

	text = copy_of("EXPLAIN EXECUTE p(lower('seen'), concat('ge', 'heim'), 'seen'); SELECT 'seen'");
	tde_redact_execute(text, 0, 2);
	is_text(text, "EXPLAIN EXECUTE p(lower('seen'), concat('**', '****'), 'seen'); SELECT 'seen'", "arguments of EXECUTE");

	text = copy_of("DO $$BEGIN EXECUTE 'EXECUTE p(''geheim'')'; EXECUTE 'EXECUTE p(' || quote_literal('geheim') || ')'; END$$");
	tde_redact_execute(text, 0, 1);
	is_text(text, "DO $$BEGIN EXECUTE 'EXECUTE p(''******'')'; EXECUTE 'EXECUTE p(' || quote_literal('******') || '*'; END$$",
			"arguments of EXECUTE in literals");

	text = copy_of("AUDIT: SESSION,1,1,READ,SELECT,,,\"SELECT tde_wallet_open($1), $2\",\"geheim,x\"");
	tde_redact_audit(text);
	is_text(text, "AUDIT: SESSION,1,1,READ,SELECT,,,\"SELECT tde_wallet_open($1), $2\",\"******,*\"", "parameters in pgaudit");

	text = copy_of("SELECT my_open('geheim'), $$x$$, 1");
	tde_redact_literals(text, 0);
	is_text(text, "SELECT my_open('******'), $$*$$, 1", "all literals");
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
	};

	for (int i = 0; i < (int) (sizeof(cases) / sizeof(cases[0])); i++)
	{
		char	   *text = copy_of(cases[i].message);

		tde_redact_quotations(text, cases[i].format, cases[i].keep);
		is_text(text, cases[i].expected, cases[i].message);
	}
}

int
main(void)
{
	test_calls(calls, sizeof(calls) / sizeof(calls[0]), 0);
	test_calls(entries, sizeof(entries) / sizeof(entries[0]), TDE_REDACT_ENTRY);
	test_prefixes();
	test_noise();
	test_size();
	test_found();
	test_quotations();
	return tap_done();
}
