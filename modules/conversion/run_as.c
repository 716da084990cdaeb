/*
 * run_as.c - commands that concern a table, or what depends on it, as the owner of that: maintenance/owner.h says why.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_namespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "maintenance/owner.h"
#include "server/compat.h"

PG_FUNCTION_INFO_V1(tde_conversion_foreign_owner);
PG_FUNCTION_INFO_V1(tde_conversion_run_as);

/* ---- whose commands run, and how ---- */

/*
 * Returns true if it is whoever is logged in, and nobody else whose rights could be got back by RESET ROLE.  Then there is nothing to give up, and
 * temporary objects, which a restricted operation may not make, can be made.
 */
static bool
is_logged_in(Oid role)
{
	return role == GetUserId() && role == GetSessionUserId() && role == GetAuthenticatedUserId();
}

/*
 * Returns true if the caller could SET ROLE to it.  Where that is forbidden, in SECURITY DEFINER functions and restricted operations, only a
 * superuser has all of the role's rights already, and attributes that nobody inherits.
 */
static bool
may_become(Oid role)
{
	Oid			user = GetUserId();

	return role == user || superuser_arg(user) ||
		(!InLocalUserIdChange() && !InSecurityRestrictedOperation() && TDE_MAY_BECOME(user, role));
}

/* ---- whose objects ---- */

/* Returns the role that owns an object; InvalidOid if objects of its kind have no owner, or if it is not there. */
static Oid
owner_of(const ObjectAddress *object)
{
	AttrNumber	column = get_object_attnum_owner(object->classId);
	int			cache = get_object_catcache_oid(object->classId);

	return column == InvalidAttrNumber || cache < 0 ? InvalidOid : GetSysCacheOid1(cache, column, ObjectIdGetDatum(object->objectId));
}

/* tde_foreign_owner(class regclass, object oid, role oid) - the owner of an object, if that is neither the role nor a superuser; else NULL */
Datum
tde_conversion_foreign_owner(PG_FUNCTION_ARGS)
{
	ObjectAddress object = {PG_GETARG_OID(0), PG_GETARG_OID(1), 0};
	Oid			owner = is_objectclass_supported(object.classId) ? owner_of(&object) : InvalidOid;

	if (!OidIsValid(owner) || tde_owner_is_trusted(owner, PG_GETARG_OID(2)))
		PG_RETURN_NULL();
	PG_RETURN_OID(owner);
}

/* ---- temporary objects ---- */

/* Throws if it belongs to somebody whom the role does not trust. */
static void
check_temporary_object(const ObjectAddress *object, Oid role)
{
	Oid			owner = owner_of(object);

	if (!OidIsValid(owner) || tde_owner_is_trusted(owner, role))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("this session has temporary objects that others than role \"%s\" own", GetUserNameFromId(role, false)),
			 errdetail("Role \"%s\" owns %s, which commands of role \"%s\" could find by its name.",
					   GetUserNameFromId(owner, false), getObjectDescription(object, false), GetUserNameFromId(role, false)),
			 errhint("DISCARD TEMP; or do it in a session of its own.")));
}

/*
 * What is in pg_temp is found by the commands, too, where pg_catalog has no object of its name.  A restricted operation makes nothing there,
 * but may rename what its role owns.
 */
static void
check_temporary_objects(Oid role)
{
	Oid			schema;
	Oid			toast_schema;
	Relation	depend;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	GetTempNamespaceState(&schema, &toast_schema);
	if (!OidIsValid(schema))
		return;
	depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(NamespaceRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(schema));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend row = (Form_pg_depend) GETSTRUCT(tuple);
		ObjectAddress object = {row->classid, row->objid, row->objsubid};

		CHECK_FOR_INTERRUPTS();
		check_temporary_object(&object, role);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
}

/* ---- running them ---- */

static void
run_commands(const char *commands)
{
	int			result;

	SPI_connect();
	result = SPI_execute(commands, false, 0);
	if (result < 0)
		elog(ERROR, "SPI_execute: %s", SPI_result_code_string(result));
	SPI_finish();
}

/*
 * tde_run_as(role oid, commands text) - run commands as this role, restricted, with the search path of the function's declaration.  For
 * those who could SET ROLE to it.
 */
Datum
tde_conversion_run_as(PG_FUNCTION_ARGS)
{
	Oid			role = PG_GETARG_OID(0);
	char	   *name = GetUserNameFromId(role, false);
	char	   *commands = text_to_cstring(PG_GETARG_TEXT_PP(1));
	TdeCaller	caller;

	if (!may_become(role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set role \"%s\"", name),
				 errdetail("What belongs to a table or view is made as its owner."),
				 errhint("GRANT %s TO %s;", quote_identifier(name), quote_identifier(GetUserNameFromId(GetUserId(), false)))));
	check_temporary_objects(role);
	if (is_logged_in(role))
	{
		run_commands(commands);
		PG_RETURN_VOID();
	}
	tde_owner_begin_as_on_path(&caller, role);
	run_commands(commands);
	tde_owner_end(&caller);
	PG_RETURN_VOID();
}
