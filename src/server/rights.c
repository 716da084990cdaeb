/*
 * rights.c - roles and their rights as they are now, also while logical decoding has the catalogs as they were.
 *
 * Then the caches of catalogs are of former days as well, and so are all functions of PostgreSQL that look rights up there.  So the
 * catalogs are read here past the caches, under a snapshot of now.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_auth_members.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "server/compat.h"
#include "server/rights.h"

/* ---- reading catalogs of now ---- */

/* Sees a row of a catalog that is locked as long. */
typedef void (*Visitor) (Relation catalog, HeapTuple tuple, void *arg);

/* Visits the rows of a catalog with this value, as they are now, whatever snapshot the process has. */
static void
visit(Oid relid, Oid index, AttrNumber column, RegProcedure equal, Datum value, Visitor visitor, void *arg)
{
	Relation	catalog = table_open(relid, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetNonHistoricCatalogSnapshot(relid));
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, column, BTEqualStrategyNumber, equal, value);
	scan = systable_beginscan(catalog, index, true, snapshot, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		visitor(catalog, tuple, arg);
	}
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(catalog, AccessShareLock);
}

/* ---- roles ---- */

/* Copies as much of the row as is never NULL nor of variable length. */
static void
copy_role(Relation catalog, HeapTuple tuple, void *arg)
{
	memcpy(arg, GETSTRUCT(tuple), offsetof(FormData_pg_authid, rolconnlimit));
}

/* The role of this OID; its oid is InvalidOid if there is none. */
static FormData_pg_authid
role_of(Oid oid)
{
	FormData_pg_authid role = {.oid = InvalidOid};

	visit(AuthIdRelationId, AuthIdOidIndexId, Anum_pg_authid_oid, F_OIDEQ, ObjectIdGetDatum(oid), copy_role, &role);
	return role;
}

Oid
tde_rights_role(const char *name)
{
	FormData_pg_authid role = {.oid = InvalidOid};
	NameData	wanted;

	if (!HistoricSnapshotActive())
		return get_role_oid(name, true);
	if (strlen(name) >= NAMEDATALEN)
		return InvalidOid;
	namestrcpy(&wanted, name);
	visit(AuthIdRelationId, AuthIdRolnameIndexId, Anum_pg_authid_rolname, F_NAMEEQ, NameGetDatum(&wanted), copy_role, &role);
	return role.oid;
}

const char *
tde_rights_role_name(Oid oid)
{
	FormData_pg_authid role;

	if (!HistoricSnapshotActive())
		return GetUserNameFromId(oid, true);
	role = role_of(oid);
	return OidIsValid(role.oid) ? pstrdup(NameStr(role.rolname)) : NULL;
}

bool
tde_rights_superuser(Oid user)
{
	return HistoricSnapshotActive() ? role_of(user).rolsuper : superuser_arg(user);
}

/* ---- memberships ---- */

/* Roles whose privileges a member has, itself first. */
typedef struct Memberships
{
	List	   *roles;
	bool		inherits;		/* before 16: the one that is looked at has rolinherit */
} Memberships;

static void
add_role(Relation catalog, HeapTuple tuple, void *arg)
{
	Memberships *memberships = arg;
	Form_pg_auth_members membership = (Form_pg_auth_members) GETSTRUCT(tuple);

	if (TDE_INHERITS(membership, memberships->inherits))
		memberships->roles = list_append_unique_oid(memberships->roles, membership->roleid);
}

/* As PostgreSQL's roles_is_member_of() does: the owner of this database is a member of pg_database_owner. */
static void
add_database_owner(Relation catalog, HeapTuple tuple, void *arg)
{
	Memberships *memberships = arg;

	if (list_member_oid(memberships->roles, ((Form_pg_database) GETSTRUCT(tuple))->datdba))
		memberships->roles = list_append_unique_oid(memberships->roles, ROLE_PG_DATABASE_OWNER);
}

static void
add_roles_of(Memberships *memberships, Oid member)
{
	memberships->inherits = role_of(member).rolinherit;
	visit(AuthMemRelationId, AuthMemMemRoleIndexId, Anum_pg_auth_members_member, F_OIDEQ, ObjectIdGetDatum(member), add_role, memberships);
	visit(DatabaseRelationId, DatabaseOidIndexId, Anum_pg_database_oid, F_OIDEQ, ObjectIdGetDatum(MyDatabaseId), add_database_owner, memberships);
}

/* Returns all roles whose privileges the user has, itself first. */
static List *
roles_of(Oid user)
{
	Memberships memberships = {list_make1_oid(user)};

	/* the list grows while it is gone through */
	for (int i = 0; i < list_length(memberships.roles); i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_roles_of(&memberships, list_nth_oid(memberships.roles, i));
	}
	return memberships.roles;
}

bool
tde_rights_has_privs(Oid user, Oid role)
{
	if (!HistoricSnapshotActive())
		return has_privs_of_role(user, role);
	return user == role || tde_rights_superuser(user) || list_member_oid(roles_of(user), role);
}

/* ---- functions ---- */

typedef struct Execution
{
	List	   *roles;			/* of the user */
	bool		granted;		/* to one of these, or to all */
} Execution;

/* Grants to the owner stand in the list as well, so nothing else is to be asked. */
static void
look_for_grant(Relation catalog, HeapTuple tuple, void *arg)
{
	Execution  *execution = arg;
	bool		isnull;
	Datum		value = heap_getattr(tuple, Anum_pg_proc_proacl, RelationGetDescr(catalog), &isnull);
	Acl		   *acl;

	/* by default everybody may */
	execution->granted = isnull;
	if (isnull)
		return;
	acl = DatumGetAclP(value);
	for (int i = 0; i < ACL_NUM(acl); i++)
	{
		const AclItem *item = &ACL_DAT(acl)[i];

		if ((item->ai_privs & ACL_EXECUTE) != 0 &&
			(item->ai_grantee == ACL_ID_PUBLIC || list_member_oid(execution->roles, item->ai_grantee)))
			execution->granted = true;
	}
}

bool
tde_rights_may_execute(Oid function, Oid user)
{
	Execution	execution = {NIL, false};

	if (!HistoricSnapshotActive())
		return TDE_MAY_EXECUTE(function, user);
	if (tde_rights_superuser(user))
		return true;
	execution.roles = roles_of(user);
	visit(ProcedureRelationId, ProcedureOidIndexId, Anum_pg_proc_oid, F_OIDEQ, ObjectIdGetDatum(function), look_for_grant, &execution);
	return execution.granted;
}
