/*
 * taken_names.c - functions, operators, casts and types of others that would be called for encrypted values in place of PostgreSQL's or ours.
 *
 * For a column of type text, lower(text) of pg_catalog fits exactly, and nobody's function can come before it.  For an encrypted column
 * nothing of pg_catalog does: its functions are found through an implicit cast, and an exact lower(encrypted_text) in any schema of the
 * search path wins, wherever that stands.  A polymorphic one wins if it fits the other arguments better, and otherwise none of the two is
 * taken.  A type of that name wins, too: where no function fits exactly, lower(x) may be a cast to a type lower, whose checks are run.  So
 * whoever may make objects in such a schema could get the values, and run as whoever calls it.  The door is closed where it is opened: only
 * superusers make functions, operators and types of such names.
 *
 * What fits plain values alone is PostgreSQL's own matter.  So are composites: pg_catalog has no function of anybody's row type.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "parser/parse_type.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "ddl/taken_names.h"
#include "keys/table.h"
#include "server/extension.h"
#include "type/core.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_taken_name);

/* What the parser looks at when it chooses among functions or operators of one name.  An operator counts as a function of two arguments. */
typedef struct Signature
{
	Oid			catalog;		/* ProcedureRelationId or OperatorRelationId */
	Oid			oid;
	Oid			schema;
	char		name[NAMEDATALEN];
	bool		variadic;		/* the last argument is an array, for any number of them */
	int			required;		/* how many arguments have no default */
	int			count;			/* of types, at most FUNC_MAX_ARGS */
	Oid			types[FUNC_MAX_ARGS];
} Signature;

/* ---- types of arguments ---- */

/* Returns what a type consists of: a domain's or an array's element, a range's bounds; InvalidOid if of nothing else. */
static Oid
inner_type(Oid type)
{
	Oid			inner = getBaseType(type);

	if (inner != type)
		return inner;
	inner = get_element_type(type);
	if (!OidIsValid(inner))
		inner = get_range_subtype(type);
	return OidIsValid(inner) ? inner : get_multirange_range(type);
}

/* Returns true for a type of encrypted values, or of what they become implicitly: the types that the extension has for operands. */
static bool
takes_encrypted(Oid type)
{
	for (; OidIsValid(type); type = inner_type(type))
		if (tde_type_find(type) || tde_core_is_member(TypeRelationId, type))
			return true;
	return false;
}

/* Returns true if a function with this argument could be called with an encrypted value, as it is or decrypted. */
static bool
may_be_encrypted(Oid type)
{
	return takes_encrypted(type) || tde_type_of_base(type) != NULL;
}

/*
 * Returns true if an argument of any type competes with one of this type for encrypted values.  f(anyelement) fits an encrypted integer exactly, and
 * f(integer) of pg_catalog only through a cast.
 */
static bool
competes(Oid any, Oid type)
{
	Oid			element = get_element_type(type);

	switch (any)
	{
		case ANYOID:
		case ANYELEMENTOID:
		case ANYCOMPATIBLEOID:
			return may_be_encrypted(OidIsValid(element) ? element : type);
		case ANYNONARRAYOID:
		case ANYCOMPATIBLENONARRAYOID:
			return may_be_encrypted(type);
		case ANYARRAYOID:
		case ANYCOMPATIBLEARRAYOID:
			return OidIsValid(element) && may_be_encrypted(element);
		default:
			return false;
	}
}

/* ---- functions and operators ---- */

static void
read_function(HeapTuple tuple, Signature *signature)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);

	signature->catalog = ProcedureRelationId;
	signature->oid = form->oid;
	signature->schema = form->pronamespace;
	strlcpy(signature->name, NameStr(form->proname), NAMEDATALEN);
	signature->variadic = OidIsValid(form->provariadic);
	signature->required = form->pronargs - form->pronargdefaults;
	signature->count = Min(form->pronargs, FUNC_MAX_ARGS);
	memcpy(signature->types, form->proargtypes.values, signature->count * sizeof(Oid));
}

static void
read_operator(HeapTuple tuple, Signature *signature)
{
	Form_pg_operator form = (Form_pg_operator) GETSTRUCT(tuple);

	signature->catalog = OperatorRelationId;
	signature->oid = form->oid;
	signature->schema = form->oprnamespace;
	strlcpy(signature->name, NameStr(form->oprname), NAMEDATALEN);
	signature->variadic = false;
	signature->required = 2;
	signature->count = 2;
	signature->types[0] = form->oprleft;
	signature->types[1] = form->oprright;
}

/*
 * Returns the type that an argument has in calls, by its place.  Of VARIADIC each further one has the last one's element.  InvalidOid: there is none.
 */
static Oid
argument_type(const Signature *signature, int place)
{
	Oid			type = signature->types[Min(place, signature->count - 1)];

	if (!signature->variadic || place < signature->count - 1)
		return place < signature->count ? type : InvalidOid;
	switch (type)
	{
		case ANYARRAYOID:
			return ANYELEMENTOID;
		case ANYCOMPATIBLEARRAYOID:
			return ANYCOMPATIBLEOID;
		default:
			return OidIsValid(get_element_type(type)) ? get_element_type(type) : type;
	}
}

static bool
any_takes_encrypted(const Signature *signature)
{
	for (int i = 0; i < signature->count; i++)
		if (takes_encrypted(signature->types[i]))
			return true;
	return false;
}

/* Returns true if one of its arguments of any type would take what the other one is meant for. */
static bool
competes_with(const Signature *signature, const Signature *other)
{
	if (signature->count == 0)
		return false;
	for (int i = 0; i < other->count; i++)
		if (competes(argument_type(signature, i), other->types[i]) || (i < signature->count && competes(signature->types[i], other->types[i])))
			return true;
	return false;
}

static bool
is_our_signature(const Signature *signature)
{
	return signature->schema == tde_extension_schema() &&
		tde_core_is_member(signature->catalog, signature->oid);
}

/*
 * Returns the schema of a function or operator of the same name that is PostgreSQL's or ours, and comes after this one for encrypted values;
 * InvalidOid if there is none.  Names that functions of ours alone have are taken whatever the arguments: those who call them write constants, of no
 * type, and give secrets.
 */
static Oid
schema_of_meant(const Signature *signature)
{
	bool		function = signature->catalog == ProcedureRelationId;
	bool		encrypted = any_takes_encrypted(signature);
	CatCList   *list = SearchSysCacheList1(function ? PROCNAMEARGSNSP : OPERNAMENSP, CStringGetDatum(signature->name));
	Oid			system = InvalidOid;
	Oid			ours = InvalidOid;
	bool		taken = encrypted;

	for (int i = 0; i < list->n_members; i++)
	{
		Signature	other;

		(function ? read_function : read_operator) (&list->members[i]->tuple, &other);
		if (other.oid == signature->oid)
			continue;
		if (tde_is_core(other.oid))
			system = other.schema;
		else if (is_our_signature(&other))
			ours = other.schema;
		else
			continue;
		taken = taken || competes_with(signature, &other);
	}
	ReleaseSysCacheList(list);
	if (function && OidIsValid(ours) && !OidIsValid(system))
		return ours;
	return !taken ? InvalidOid : OidIsValid(system) ? system : ours;
}

/*
 * Returns false if the object is there no longer, is PostgreSQL's or ours itself, or stands in a schema of temporary objects, where functions and
 * operators are found only with the schema's name.
 */
static bool
find_signature(Oid catalog, Oid object, Signature *signature)
{
	HeapTuple	tuple = SearchSysCache1(catalog == ProcedureRelationId ? PROCOID : OPEROID, ObjectIdGetDatum(object));

	if (!HeapTupleIsValid(tuple))
		return false;
	(catalog == ProcedureRelationId ? read_function : read_operator) (tuple, signature);
	ReleaseSysCache(tuple);
	return !tde_is_core(signature->oid) && !isAnyTempNamespace(signature->schema) &&
		!tde_core_is_member(catalog, object);
}

/* ---- casts ---- */

typedef struct CastTypes
{
	Oid			source;
	Oid			target;
	bool		is_written;		/* it applies only where somebody writes it */
} CastTypes;

/* There is no cache by a cast's own OID. */
static bool
find_cast(Oid cast, CastTypes *types)
{
	Relation	rel = table_open(CastRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found;

	ScanKeyInit(&key, Anum_pg_cast_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(cast));
	scan = systable_beginscan(rel, CastOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple);
	if (found)
	{
		Form_pg_cast form = (Form_pg_cast) GETSTRUCT(tuple);

		*types = (CastTypes) {form->castsource, form->casttarget, form->castcontext == COERCION_CODE_EXPLICIT};
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/* A cast that applies by itself decides which functions fit an encrypted value.  One that must be written harms nobody. */
static bool
cast_is_taken(Oid cast)
{
	CastTypes	types;

	return find_cast(cast, &types) && !types.is_written && (takes_encrypted(types.source) || takes_encrypted(types.target)) &&
		!tde_core_is_member(CastRelationId, cast);
}

/* ---- types ---- */

/*
 * Returns true if a call of this function with an encrypted value, which no function fits exactly, would be a cast to this type: func_get_detail() in
 * parse_func.c tries that before it looks for implicit casts.
 */
static bool
becomes_cast(const Signature *function, Oid type)
{
	Oid			argument = function->count > 0 && function->required <= 1 ? function->types[0] : InvalidOid;
	TdeType    *encrypted = OidIsValid(argument) ? tde_type_find(argument) : NULL;
	CoercionPathType path;
	Oid			cast;

	if (argument == ANYOID || IsPolymorphicType(argument))
	{
		/* so do plain values: only of what runs code, and of encrypted values, is more to be said */
		if (!takes_encrypted(type) && get_typtype(type) != TYPTYPE_DOMAIN)
			return false;
		argument = TEXTOID;
	}
	if (encrypted == NULL && OidIsValid(argument))
		encrypted = tde_type_of_base(argument);
	if (encrypted == NULL)
		return false;
	path = find_coercion_pathway(type, encrypted->oid, COERCION_EXPLICIT, &cast);
	return takes_encrypted(type) || path == COERCION_PATH_RELABELTYPE || path == COERCION_PATH_COERCEVIAIO;
}

/* Returns false if it is no type that a call can be a cast to, or one that is not found by its name alone, as with find_signature(). */
static bool
find_type_name(Oid type, char *name)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Form_pg_type form;
	bool		found;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_type) GETSTRUCT(tuple);
	found = form->typisdefined && !isAnyTempNamespace(form->typnamespace) && !ISCOMPLEX(type);
	strlcpy(name, NameStr(form->typname), NAMEDATALEN);
	ReleaseSysCache(tuple);
	return found && !tde_is_core(type) &&
		!SearchSysCacheExists2(TYPENAMENSP, CStringGetDatum(name), ObjectIdGetDatum(get_namespace_oid("pg_catalog", false))) &&
		!tde_core_is_member(TypeRelationId, type);
}

/* Returns the schema of a function of PostgreSQL's or ours that has the type's name; InvalidOid if no call of it would become a cast. */
static Oid
schema_of_function(Oid type)
{
	char		name[NAMEDATALEN];
	CatCList   *list;
	Oid			schema = InvalidOid;

	if (!find_type_name(type, name))
		return InvalidOid;
	list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	for (int i = 0; i < list->n_members && !OidIsValid(schema); i++)
	{
		Signature	function;

		read_function(&list->members[i]->tuple, &function);
		if ((tde_is_core(function.oid) || is_our_signature(&function)) && becomes_cast(&function, type))
			schema = function.schema;
	}
	ReleaseSysCacheList(list);
	return schema;
}

/* A range's other type, of several ranges, is made with it, and may have any name. */
static Oid
schema_of_functions(Oid type)
{
	Oid			schema = schema_of_function(type);
	Oid			multirange = OidIsValid(schema) ? InvalidOid : get_range_multirange(type);

	return OidIsValid(multirange) ? schema_of_function(multirange) : schema;
}

/* ---- the decision, and what comes of it ---- */

const char *
tde_name_is_taken(Oid catalog, Oid object)
{
	Signature	signature;
	Oid			schema;

	if (catalog == CastRelationId)
		return cast_is_taken(object) ? "" : NULL;
	if (catalog == TypeRelationId)
		schema = schema_of_functions(object);
	else if (find_signature(catalog, object, &signature))
		schema = schema_of_meant(&signature);
	else
		return NULL;
	return OidIsValid(schema) ? get_namespace_name(schema) : NULL;
}

static void
refuse_cast(Oid cast)
{
	CastTypes	types;

	(void) find_cast(cast, &types);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("must be superuser to create a cast of an encrypted type that applies by itself"),
			 errdetail("The cast from type %s to type %s would decide which functions others call for encrypted values.",
					   format_type_be_qualified(types.source), format_type_be_qualified(types.target)),
			 errhint("Create it without AS IMPLICIT and AS ASSIGNMENT, and write it where it is meant.")));
}

static void
refuse_type(Oid type, const char *meant)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("must be superuser to give a type this name"),
			 errdetail("The function of this name in schema \"%s\", called with an encrypted value, would be a cast to type %s, or to the type of its multiranges.",
					   meant, format_type_be_qualified(type)),
			 errhint("Give it another name, which no function of PostgreSQL or tde_column has.")));
}

void
tde_name_guard(Oid catalog, Oid object)
{
	const char *meant = superuser() ? NULL : tde_name_is_taken(catalog, object);
	bool		function = catalog == ProcedureRelationId;

	if (meant == NULL)
		return;
	if (catalog == CastRelationId)
		refuse_cast(object);
	if (catalog == TypeRelationId)
		refuse_type(object, meant);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("must be superuser to give %s this name", function ? "a function" : "an operator"),
			 errdetail("%s %s would be called in place of the one in schema \"%s\".", function ? "Function" : "Operator",
					   function ? format_procedure_qualified(object) : format_operator_qualified(object), meant),
			 errhint("Give it another name, which neither PostgreSQL nor tde_column has.")));
}

/* tde_taken_name(catalog oid, object oid) - tde_name_is_taken(), for the audit. */
Datum
tde_taken_name(PG_FUNCTION_ARGS)
{
	Oid			catalog = PG_GETARG_OID(0);
	const char *meant = NULL;

	if (catalog == ProcedureRelationId || catalog == OperatorRelationId || catalog == CastRelationId || catalog == TypeRelationId)
		meant = tde_name_is_taken(catalog, PG_GETARG_OID(1));
	if (meant == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(meant));
}
