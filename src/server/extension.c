/*
 * extension.c - the extension in this database: its schema, its tables, and who may execute its functions.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "server/compat.h"
#include "server/extension.h"
#include "server/rights.h"

Oid
tde_extension_schema(void)
{
	Oid			extension = get_extension_oid("tde_column", true);
	Relation	rel;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			schema = InvalidOid;

	if (!OidIsValid(extension))
		return InvalidOid;
	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(extension));
	scan = systable_beginscan(rel, ExtensionOidIndexId, true, NULL, 1, &key);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return schema;
}

bool
tde_extension_may_execute(const char *name, const Oid *types, int count, Oid user)
{
	oidvector  *args = buildoidvector(types, count);
	Oid			function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name), PointerGetDatum(args),
										   ObjectIdGetDatum(tde_extension_schema()));

	pfree(args);
	return OidIsValid(function) && tde_rights_may_execute(function, user);
}

Oid
tde_extension_table(const char *name)
{
	Oid			extension = get_extension_oid("tde_column", true);
	Oid			schema = OidIsValid(extension) ? get_namespace_oid("tde", true) : InvalidOid;
	Oid			relid = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;

	/* a namesake of somebody's is not our table */
	return OidIsValid(relid) && getExtensionOfObject(RelationRelationId, relid) == extension ? relid : InvalidOid;
}
