/*
 * plain_class.c - operator classes of encrypted types as those of plain columns.
 *
 * Commands that make an index again for a column's other type name the class of the base type, which CREATE INDEX on an encrypted column takes for
 * that of the encrypted type (opclass.c).  So do catalogs that tell clients base types.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opclass.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "operators/blind.h"
#include "operators/blind_class.h"
#include "operators/opclass.h"
#include "operators/plain_class.h"
#include "server/compat.h"

PG_FUNCTION_INFO_V1(tde_gin_opclass);

/* Names of operator classes may begin so, and go on as those of the base types. */
#define ENCRYPTED_PREFIX "encrypted_"

/* Its default, also of those without order, or the one of the same name. */
static Oid
base_class(Form_pg_opclass opclass)
{
	TdeType    *type = tde_type_find(opclass->opcintype);
	char	   *name = NameStr(opclass->opcname);

	if (opclass->opcmethod == GIN_AM_OID)
		return tde_blind_is_class(opclass->oid) ? tde_blind_base_class(opclass->oid) : InvalidOid;
	if (type == NULL)
		return InvalidOid;
	if (opclass->opcdefault || opclass->oid == tde_opclass_unordered(type))
		return GetDefaultOpClass(type->base, opclass->opcmethod);
	if (strncmp(name, ENCRYPTED_PREFIX, strlen(ENCRYPTED_PREFIX)) == 0)
		name += strlen(ENCRYPTED_PREFIX);
	return get_opclass_oid(opclass->opcmethod, list_make2(makeString("pg_catalog"), makeString(pstrdup(name))), true);
}

Oid
tde_plain_class(Oid opclass)
{
	HeapTuple	tuple = opclass < FirstNormalObjectId ? NULL : SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Oid			plain = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		plain = base_class((Form_pg_opclass) GETSTRUCT(tuple));
		ReleaseSysCache(tuple);
	}
	return OidIsValid(plain) ? plain : opclass;
}

/* ---- texts ---- */

/* A class as it is printed: with a schema, or as it is. */
static char *
name_of(Oid opclass, bool with_schema, bool *is_default)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass form;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	name = pstrdup(quote_qualified_identifier(with_schema ? get_namespace_name(form->opcnamespace) : NULL, NameStr(form->opcname)));
	*is_default = form->opcdefault;
	ReleaseSysCache(tuple);
	return name;
}

/* What comes after a class, without its option. */
static char *
after_option(char *rest)
{
	static const char option[] = " (" TDE_BLIND_OPTION "=";
	char	   *end = strncmp(rest, option, sizeof(option) - 1) == 0 ? strchr(rest, ')') : NULL;

	return end ? end + 1 : rest;
}

char *
tde_plain_class_text(char *definition, Oid opclass)
{
	Oid			plain = tde_plain_class(opclass);
	bool		is_default;
	char	   *to;

	if (plain == opclass)
		return definition;
	to = name_of(plain, !OpclassIsVisible(plain), &is_default);
	for (int with_schema = 1; with_schema >= 0; with_schema--)
	{
		bool		ignored;
		char	   *from = psprintf(" %s", name_of(opclass, with_schema == 1, &ignored));
		char	   *found = strstr(definition, from);

		if (found == NULL)
			continue;
		return psprintf("%.*s%s%s%s", (int) (found - definition), definition, is_default ? "" : " ", is_default ? "" : to,
						after_option(found + strlen(from)));
	}
	return definition;
}

/*
 * tde_gin_opclass(type oid, opclass oid) returns text - the class of GIN to be named for a column of this type when it becomes encrypted, or plain;
 * NULL: there is none.
 */
Datum
tde_gin_opclass(PG_FUNCTION_ARGS)
{
	Oid			type = getBaseType(PG_GETARG_OID(0));
	Oid			opclass = PG_GETARG_OID(1);
	TdeType    *encrypted = tde_type_of_base(type);
	bool		is_default;

	if (tde_blind_is_class(opclass) ? tde_plain_class(opclass) == opclass : encrypted == NULL || !OidIsValid(tde_blind_class_for(encrypted->oid, opclass)))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(name_of(tde_plain_class(opclass), true, &is_default)));
}
