/*
 * languages.c - procedural languages, and trigger functions in C, that convert values by their types get the base types, as they do of plain columns.
 *
 * PL/pgSQL and SQL know no types but PostgreSQL's own and leave all to casts.  Others make numbers of numbers and true of true, for the types
 * that they know by OID, and text of everything else: also of encrypted numbers.  So their handlers are called through a function
 * of ours, which replaces rows (client/language_rows.c) and leaves a mark on the error context stack: by that the statements are known that
 * they run.
 *
 * Trigger functions of contrib want a column of one type, moddatetime() a timestamp.
 *
 * Only the libraries that are named here: what their handlers and functions read of a trigger's relation and of a row was looked up in their sources.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/proclang.h"
#include "commands/trigger.h"
#include "funcapi.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "client/language_rows.h"
#include "client/languages.h"
#include "client/result.h"
#include "keys/cache.h"
#include "server/compat.h"
#include "server/memory.h"
#include "type/inside.h"

PG_FUNCTION_INFO_V1(tde_tsvector_update_trigger);
PG_FUNCTION_INFO_V1(tde_tsvector_update_trigger_column);

/* The base types of which a language makes something else than text, or which it makes of something else and not, with an error, of text. */
static const Oid python_reads[] = {
	BOOLOID, INT2OID, INT4OID, INT8OID, FLOAT4OID, FLOAT8OID, NUMERICOID, OIDOID, BYTEAOID, InvalidOid
};
static const Oid bytes[] = {BYTEAOID, InvalidOid};
static const Oid none[] = {InvalidOid};

/* How a library reads values, and writes them.  Constant. */
typedef struct Convention
{
	const char *file;			/* of the library with its handlers, or functions */
	bool		by_header;		/* it reads rows by the types that they tell themselves */
	const Oid  *reads;			/* base types of which it makes something else than text, ended by InvalidOid; NULL: all */
	const Oid  *writes;			/* base types that it makes of something else than text, likewise */
} Convention;

static const Convention conventions[] = {
	{"plpython3", true, python_reads, bytes},
	{"plperl", true, none, none},
	{"pltcl", true, none, none},
	{"pllua", false, NULL, bytes},
	{"moddatetime", false, NULL, none},
	{"insert_username", false, NULL, none},
	{"autoinc", false, NULL, none},
	{"refint", false, NULL, none}
};

/* By what a handler is known. */
typedef struct LanguageKey
{
	Oid			language;
	Oid			function;		/* InvalidOid, but for a trigger function in C: each is a handler of its own */
} LanguageKey;

/* What is remembered of a language, in languages, as long as the backend lives. */
typedef struct Language
{
	LanguageKey key;
	uint64		epoch;			/* when it was looked up: see current_epoch(); 0: not yet */
	const Convention *convention;	/* NULL: none of these */
	PGFunction	handler;		/* NULL: none of its functions was called yet */
} Language;

static HTAB *languages = NULL;

/* Rises whenever a language may have changed. */
static uint64 languages_epoch = 1;

/* ---- which languages ---- */

/*
 * Returns the library of a C function, without folder and ending, palloc'd; NULL if it has none.  $libdir/plperl and /usr/lib/.../plperl.so are the
 * same.
 */
static char *
library_of(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	char	   *library = NULL;
	Datum		path;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	path = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
	if (!isnull)
	{
		char	   *name = TextDatumGetCString(path);
		char	   *slash = strrchr(name, '/');

		library = slash ? slash + 1 : name;
		library[strcspn(library, ".")] = '\0';
	}
	ReleaseSysCache(tuple);
	return library;
}

/* Goes by the library of the language's handler, and not by the language's name: plperl and plperlu are two languages of one library. */
static const Convention *
look_up(LanguageKey key)
{
	char	   *library = library_of(OidIsValid(key.function) ? key.function :
									 GetSysCacheOid1(LANGOID, Anum_pg_language_lanplcallfoid, ObjectIdGetDatum(key.language)));

	for (int i = 0; library && i < lengthof(conventions); i++)
		if (strcmp(conventions[i].file, library) == 0)
			return &conventions[i];
	return NULL;
}

static uint64
current_epoch(void)
{
	return tde_functions_epoch + languages_epoch;
}

/* The entry is looked up again, in place, when a function or a language may have changed.  Its handler stays. */
static Language *
find_language(LanguageKey key)
{
	bool		found;
	Language   *language = hash_search(languages, &key, HASH_ENTER, &found);

	if (!found)
	{
		language->epoch = 0;
		language->handler = NULL;
	}
	if (language->epoch != current_epoch())
	{
		language->epoch = current_epoch();
		language->convention = look_up(key);
	}
	return language;
}

static void
invalidate(Datum arg, int cacheid, uint32 hashvalue)
{
	languages_epoch++;
}

void
tde_languages_init(void)
{
	languages = tde_memory_table_new("tde_column languages", sizeof(LanguageKey), sizeof(Language));
	CacheRegisterSyscacheCallback(LANGOID, invalidate, (Datum) 0);
}

/* Returns the language of a function, if it is one of these; NULL otherwise.  Of functions in C only those of triggers count. */
static Language *
language_of(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	LanguageKey key;
	bool		is_candidate;
	Language   *language;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	key = (LanguageKey) {form->prolang, form->prolang == ClanguageId ? function : InvalidOid};
	is_candidate = form->prolang != ClanguageId || form->prorettype == TRIGGEROID;
	ReleaseSysCache(tuple);
	language = is_candidate ? find_language(key) : NULL;
	return language && language->convention ? language : NULL;
}

/* Whenever a function that is not built in is looked up, this is asked: some that are in no such language are remembered. */
bool
tde_language_converts(Oid function)
{
	static struct
	{
		Oid			function;
		uint64		epoch;		/* of functions and languages */
	}			others[64];
	int			at = function % lengthof(others);
	uint64		epoch = current_epoch();

	if (likely(others[at].function == function && others[at].epoch == epoch))
		return false;
	if (language_of(function))
		return true;
	others[at].function = function;
	others[at].epoch = epoch;
	return false;
}

/*
 * ---- what a function declares ----
 *
 * A language looks up for itself what its function declares, and cannot be told another type.
 */

/* bases: ended by InvalidOid; NULL: all types are. */
static bool
is_among(const Oid *bases, TdeType *type)
{
	for (int i = 0; bases && OidIsValid(bases[i]); i++)
		if (bases[i] == type->base)
			return true;
	return bases == NULL;
}

/*
 * A language looks up for itself what its function declares, and cannot be told another type: it would make text of an encrypted number.  PL/Perl
 * makes text of everything, so that nothing is refused there.
 */
static void
check_parameters(Oid function, const Convention *convention)
{
	Oid		   *types;
	int			count;

	(void) get_func_signature(function, &types, &count);
	for (int i = 0; i < count; i++)
	{
		TdeType    *type = tde_result_type(types[i]);

		if (type ? !is_among(convention->reads, type) : convention->by_header || !tde_type_holds_encrypted(types[i]))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function %s cannot have a parameter of type %s", format_procedure(function), format_type_be(types[i])),
				 errdetail("To its language such a value is another one than a value of the base type."),
				 type ? errhint("Declare the parameter as %s: a call with an encrypted value decrypts it.", format_type_be(type->base)) :
				 errhint("Declare parameters of the fields' base types.")));
	}
}

static void
check_result_type(Oid function, Oid declared, const Convention *convention)
{
	TdeType    *type = tde_result_type(declared);

	if (type && is_among(convention->writes, type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function %s cannot return a value of type %s", format_procedure(function), format_type_be(declared)),
				 errdetail("Its language makes such a value of other objects than one of the base type."),
				 errhint("Declare the result as %s: what is stored in an encrypted column is encrypted there.", format_type_be(type->base))));
}

static void
check_result(Oid function, const Convention *convention)
{
	TupleDesc	rows;
	Oid			type;

	switch (get_func_result_type(function, &type, &rows))
	{
		case TYPEFUNC_SCALAR:
			check_result_type(function, type, convention);
			break;
		case TYPEFUNC_COMPOSITE:
		case TYPEFUNC_COMPOSITE_DOMAIN:
			for (int i = 0; i < rows->natts; i++)
				if (!TupleDescAttr(rows, i)->attisdropped)
					check_result_type(function, TupleDescAttr(rows, i)->atttypid, convention);
			break;
		default:
			break;
	}
}

/* ---- calls ---- */

static void
mark_callback(void *arg)
{
}

/* The mark does nothing in an error's context.  Its argument tells running() the convention. */
static ErrorContextCallback
mark_of(const Convention *convention)
{
	return (ErrorContextCallback) {error_context_stack, mark_callback, unconstify(Convention *, convention)};
}

/*
 * Stands in for a language's handler.  The mark is on this function's stack, and is taken off before it returns; an error resets the error context
 * stack.
 */
static Datum
call_handler(PG_FUNCTION_ARGS)
{
	Language   *language = language_of(fcinfo->flinfo->fn_oid);
	ErrorContextCallback mark;
	Datum		result;

	if (language == NULL)
		elog(ERROR, "language of function %u is not known any more", fcinfo->flinfo->fn_oid);
	mark = mark_of(language->convention);
	error_context_stack = &mark;
	if (CALLED_AS_TRIGGER(fcinfo))
		result = tde_language_trigger(fcinfo, language->handler, language->convention->by_header, !OidIsValid(language->key.function));
	else
		result = tde_language_function(fcinfo, language->handler, language->convention->by_header);
	error_context_stack = mark.previous;
	return result;
}

void
tde_language_begin(FmgrInfo *function)
{
	Language   *language;

	if (function->fn_addr == call_handler)
		return;
	language = language_of(function->fn_oid);
	if (language == NULL)
		return;
	check_parameters(function->fn_oid, language->convention);
	check_result(function->fn_oid, language->convention);
	language->handler = function->fn_addr;
	function->fn_addr = call_handler;
}

bool
tde_language_do(Node *stmt, ErrorContextCallback *mark)
{
	const Convention *convention = NULL;
	ListCell   *cell;

	if (!IsA(stmt, DoStmt))
		return false;
	foreach(cell, ((DoStmt *) stmt)->args)
	{
		DefElem    *option = lfirst(cell);

		if (strcmp(option->defname, "language") == 0)
		{
			Oid			language = get_language_oid(strVal(option->arg), true);

			convention = OidIsValid(language) ? find_language((LanguageKey) {language})->convention : NULL;
		}
	}
	if (convention)
		*mark = mark_of(convention);
	return convention != NULL;
}

/*
 * ---- PostgreSQL's own trigger functions ----
 *
 * Those are called past the function manager's hooks, so triggers call these instead: ddl/text_search.c.
 */

/* tde_tsvector_update_trigger() returns trigger */
Datum
tde_tsvector_update_trigger(PG_FUNCTION_ARGS)
{
	return tde_language_trigger(fcinfo, tsvector_update_trigger_byid, false, false);
}

/* tde_tsvector_update_trigger_column() returns trigger */
Datum
tde_tsvector_update_trigger_column(PG_FUNCTION_ARGS)
{
	return tde_language_trigger(fcinfo, tsvector_update_trigger_bycolumn, false, false);
}

/* ---- statements ---- */

/*
 * Returns the convention of the language that runs the statement which is about to begin; NULL if none does.  There is nothing above its mark then
 * but what itself and the server programming interface put there, one each; another function that has come in between has its own, and that of the
 * statement that calls it.
 */
static const Convention *
running(void)
{
	ErrorContextCallback *entry = error_context_stack;

	for (int above = 0; entry && above <= 2; above++, entry = entry->previous)
		if (entry->callback == mark_callback)
			return entry->arg;
	return NULL;
}

DestReceiver *
tde_language_spi_receiver(DestReceiver *receiver)
{
	const Convention *convention = running();

	return convention ? tde_language_rows(receiver, convention->by_header) : receiver;
}
