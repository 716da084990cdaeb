/*
 * typmod_functions.c - modifier functions, one C function for all encrypted types: what a declaration says as a typmod, and back.
 *
 * PostgreSQL calls them with the words of a declaration, encrypted_varchar(50, aes128, 'key=cards'), and to print one.  What is printed is read
 * again in every database that has a key of that name.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "ddl/declare.h"
#include "ddl/declared_type.h"
#include "keys/names.h"
#include "server/compat.h"
#include "type/plain_bytes.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_typmod_in);
PG_FUNCTION_INFO_V1(tde_typmod_out);

/* Returns the base type's own function for modifiers, InvalidOid if it takes none.  in: typmodin, otherwise typmodout. */
static Oid
modifier_function(Oid base, bool in)
{
	return GetSysCacheOid1(TYPEOID, in ? Anum_pg_type_typmodin : Anum_pg_type_typmodout, ObjectIdGetDatum(base));
}

/* What leads goes to the base type's own typmod_in, which has its own errors about it. */
static int32
parse_base_modifiers(Oid base, Datum *words, int count)
{
	Oid			function = modifier_function(base, true);
	Datum		both[2];

	if (count == 0)
		return -1;
	/* the grammar makes interval(3) of it, which no list of ours passes through */
	if (base == INTERVALOID && count == 1)
	{
		both[0] = CStringGetDatum(psprintf("%d", INTERVAL_FULL_RANGE));
		both[1] = words[0];
		words = both;
		count = 2;
	}
	if (!OidIsValid(function))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("base type %s of %s does not take the modifier \"%s\"", format_type_be(base),
						tde_ddl_encrypted_name(base), DatumGetCString(words[0])),
				 base == TEXTOID ? errhint("Write encrypted_varchar(%s).", DatumGetCString(words[0])) : errhint("Leave it out.")));
	return DatumGetInt32(OidFunctionCall1(function,
										  PointerGetDatum(construct_array(words, count, CSTRINGOID, -2, false, TYPALIGN_CHAR))));
}

static bool
is_number(const char *word)
{
	if (*word == '-' || *word == '+')
		word++;
	return *word != '\0' && strspn(word, "0123456789") == strlen(word);
}

/*
 * Returns the slot of a number.  Other databases have other numbers, so one that is not in use here is a mistake; during pg_upgrade, when
 * tde.data_keys is still empty, it is what the old server said.
 */
static int32
numbered_slot(const char *digits)
{
	long		slot;

	errno = 0;
	slot = strtol(digits, NULL, 10);
	if (errno != 0 || slot < 0 || slot > PG_INT32_MAX ||
		(!IsBinaryUpgrade && !tde_keys_name((int32) slot).exists))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" does not exist", digits),
				 errdetail("No key of this database has this number."),
				 errhint("Write the key's name, as the view tde.keys lists it.")));
	return (int32) slot;
}

/* Returns the slot of a key by its name.  One that a statement declares and that is missing is made, if the user may make keys. */
static int32
named_slot(const char *name)
{
	int32		slot = tde_keys_declared_slot(name);

	if (slot == TDE_NO_SLOT && tde_create_missing_keys && tde_ddl_declares() && tde_keys_is_free(name))
		return tde_keys_make_missing(name);
	if (slot < 0)
		tde_keys_missing(name);
	return slot;
}

/* Returns 'key=name' as 'key=7', which is what a typmod can hold; any other word as it is. */
static char *
resolve_key(char *word)
{
	const char *name = word + strlen("key=");

	if (pg_strncasecmp(word, "key=", strlen("key=")) != 0)
		return word;
	return psprintf("key=%d", tde_keys_is_number(name) ? numbered_slot(name) : named_slot(name));
}

/* During pg_upgrade the number of a row of tde.specifications stands last: 'row=7'.  Takes it away; 0 if there is none. */
static int32
take_row_number(Datum *words, int *count)
{
	const char *last = *count > 0 ? DatumGetCString(words[*count - 1]) : "";

	if (!IsBinaryUpgrade || strncmp(last, "row=", strlen("row=")) != 0)
		return 0;
	(*count)--;
	return atoi(last + strlen("row="));
}

/* Returns how many of the words are the base type's: numbers, and what else a user's type takes that is no word of ours, as geometry(Point,4326). */
static int
count_base_words(Oid base, Datum *words, int count)
{
	bool		takes_words = modifier_function(base, true) >= FirstNormalObjectId;
	int			own = 0;

	while (own < count && (is_number(DatumGetCString(words[own])) || (takes_words && !tde_modifiers_know_word(DatumGetCString(words[own])))))
		own++;
	return own;
}

/* Base modifiers come first, then words in any order.  The padding is checked last, since what "max" means depends on the base type's modifier. */
static int32
parse_modifiers(Oid base, ArrayType *array)
{
	TdeModifiers mods;
	Datum	   *words;
	int			count;
	int			own;
	int32		row;
	List	   *spec_words = NIL;
	char	   *problem;
	TdeModifiers defaults = tde_ddl_default_modifiers(base);

	deconstruct_array(array, CSTRINGOID, -2, false, TYPALIGN_CHAR, &words, NULL, &count);
	row = take_row_number(words, &count);
	own = count_base_words(base, words, count);
	for (int i = own; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		spec_words = lappend(spec_words, resolve_key(DatumGetCString(words[i])));
	}

	problem = tde_modifiers_parse(spec_words, &defaults, true, &mods);
	if (problem)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid modifiers for type %s", tde_ddl_encrypted_name(base)),
				 errdetail_internal("%s", problem),
				 errhint("Modifiers are: those of %s first; then, in any order, one of aes128, aes192, aes256, '3des168'; "
						 "salt or nosalt; gcm, sha256, mac or nomac; ctr or cbc; ordered or unordered; 'pad=BYTES' or 'pad=max'; 'key=NAME'.", format_type_be(base))));
	tde_ddl_check_spec(base, mods.spec);
	tde_ddl_check_order(base, &mods);
	mods.base_typmod = parse_base_modifiers(base, words, own);
	tde_ddl_check_pad(base, &mods);
	if (row > 0)
		return tde_modifiers_offer(row, &mods);
	return tde_modifiers_pack(tde_type_mod_layout(base), &mods);
}

/*
 * tde_typmod_in(cstring[], regtype, uuid) returns int4 - called by the modifier function of each type, which is in SQL and
 * carries the base type and the type tag: see type/type.c.
 */
Datum
tde_typmod_in(PG_FUNCTION_ARGS)
{
	ErrorContextCallback *context = error_context_stack;
	int32		typmod;

	/* that a function in SQL comes between is nothing that an error should tell users */
	if (context)
		error_context_stack = context->previous;
	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(PG_GETARG_OID(1))))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("type with OID %u does not exist", PG_GETARG_OID(1))));
	typmod = parse_modifiers(PG_GETARG_OID(1), PG_GETARG_ARRAYTYPE_P(0));
	error_context_stack = context;
	PG_RETURN_INT32(typmod);
}

/*
 * Prints "15,2," or nothing: the base type's own words, as far as its typmodin takes them.  What typmodout prints otherwise than as a list in
 * parentheses is left out.
 */
static void
print_base_modifiers(StringInfo buf, TdeType *type, int32 base_typmod)
{
	char	   *text;
	Oid			function;

	if (base_typmod < 0)
		return;
	if (type->base == INTERVALOID)
	{
		if (INTERVAL_RANGE(base_typmod) != INTERVAL_FULL_RANGE)
			appendStringInfo(buf, "%d,", INTERVAL_RANGE(base_typmod));
		appendStringInfo(buf, "%d,", INTERVAL_PRECISION(base_typmod));
		return;
	}
	if (type->layout == TDE_MOD_PRECISION)
	{
		/* timestamptz prints "(3) with time zone", of which only the number can be a modifier */
		appendStringInfo(buf, "%d,", base_typmod);
		return;
	}
	function = modifier_function(type->base, false);
	if (!OidIsValid(function))
	{
		appendStringInfo(buf, "%d,", base_typmod);
		return;
	}
	text = DatumGetCString(OidFunctionCall1(function, Int32GetDatum(base_typmod)));
	if (text[0] == '(' && text[strlen(text) - 1] == ')')
	{
		appendBinaryStringInfo(buf, text + 1, strlen(text) - 2);
		appendStringInfoChar(buf, ',');
	}
}

/* "'key=name'", as other databases know it.  pg_upgrade keeps the numbers, and has no names yet when it reads them. */
static void
print_key(StringInfo buf, int32 slot)
{
	const char *name;

	if (slot == TDE_SLOT_DEFAULT)
		return;
	name = IsBinaryUpgrade ? "" : pstrdup(tde_keys_name(slot).name);
	if (*name == '\0')
		name = psprintf("%d", slot);
	appendStringInfo(buf, ",%s", quote_literal_cstr(psprintf("key=%s", name)));
}

/* tde_typmod_out(int4) returns cstring - "(15,2,aes128,nosalt,mac,'key=cards')", which typmod_in reads again. */
Datum
tde_typmod_out(PG_FUNCTION_ARGS)
{
	TdeType    *type = tde_type_of_function(fcinfo->flinfo->fn_oid);
	TdeModifiers mods = tde_type_modifiers(type, PG_GETARG_INT32(0));
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '(');
	print_base_modifiers(&buf, type, mods.base_typmod);
	appendStringInfoString(&buf, tde_modifiers_words(&mods));
	print_key(&buf, mods.slot);
	if (IsBinaryUpgrade && tde_typmod_number(PG_GETARG_INT32(0)) > 0)
		appendStringInfo(&buf, ",'row=%d'", tde_typmod_number(PG_GETARG_INT32(0)));
	appendStringInfoChar(&buf, ')');
	PG_RETURN_CSTRING(buf.data);
}
