/*
 * adopt_refuse.c - what keeps a database from adopting keys: values under its own, and declarations that would name other keys then.
 *
 * The catalogs are asked by SQL, in which each name and operator is qualified: the caller's search_path is not to be trusted.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "storage/lmgr.h"

#include "maintenance/usage.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/permanent.h"
#include "transfer/adopt.h"

/* Returns the first column of the query's first row, palloc'd; NULL if there is none. */
static char *
query_value(const char *query)
{
	MemoryContext context = CurrentMemoryContext;
	char	   *value = NULL;

	SPI_connect();
	if (SPI_execute(query, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read the catalogs");
	if (SPI_processed > 0)
		value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (value)
		value = MemoryContextStrdup(context, value);
	SPI_finish();
	return value;
}

#define ENCRYPTED_TYPES \
	"(SELECT t.type FROM tde.types t UNION ALL SELECT e.typarray FROM tde.types t JOIN pg_catalog.pg_type e ON e.oid OPERATOR(pg_catalog.=) t.type)"

/* Returns a column or a domain that is declared with the slot's key; NULL: there is none. */
static char *
find_declared(int32 slot)
{
	return query_value(psprintf("SELECT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) FROM ("
								"SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, a.attrelid, a.attnum::pg_catalog.int4, a.atttypid, a.atttypmod "
								"FROM pg_catalog.pg_attribute a WHERE a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped UNION ALL "
								"SELECT 'pg_catalog.pg_type'::pg_catalog.regclass, t.oid, 0, t.typbasetype, t.typtypmod "
								"FROM pg_catalog.pg_type t WHERE t.typtype OPERATOR(pg_catalog.=) 'd') d (classid, objid, objsubid, type, typmod) "
								"CROSS JOIN LATERAL tde_internal.tde_type_spec(d.type, d.typmod) s "
								"WHERE s.key_slot OPERATOR(pg_catalog.=) %d ORDER BY 1", slot));
}

/*
 * A stored expression that has a constant of an encrypted type, or calls one of the library's functions, as casts are, and so may name a
 * key.  The extension's own do not, nor do the rules of its views.
 */
static char *
find_expression(void)
{
	return query_value("SELECT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) FROM pg_catalog.pg_depend d "
					   "WHERE (d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass AND d.refobjid IN " ENCRYPTED_TYPES
					   " OR d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.refobjid IN "
					   "(SELECT f.oid FROM pg_catalog.pg_proc f WHERE f.probin OPERATOR(pg_catalog.~) 'tde_column$')) "
					   "AND d.deptype OPERATOR(pg_catalog.=) ANY ('{n,a}'::pg_catalog.\"char\"[]) "
					   "AND (d.classid OPERATOR(pg_catalog.=) ANY (ARRAY['pg_catalog.pg_attrdef', 'pg_catalog.pg_constraint', "
					   "'pg_catalog.pg_rewrite', 'pg_catalog.pg_policy', 'pg_catalog.pg_trigger', 'pg_catalog.pg_proc']::pg_catalog.regclass[]) "
					   "OR d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid OPERATOR(pg_catalog.=) 0) "
					   "AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend x WHERE x.classid OPERATOR(pg_catalog.=) d.classid "
					   "AND x.objid OPERATOR(pg_catalog.=) d.objid AND (x.deptype OPERATOR(pg_catalog.=) 'e' "
					   "OR x.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND EXISTS ("
					   "SELECT FROM pg_catalog.pg_depend e WHERE e.classid OPERATOR(pg_catalog.=) x.refclassid "
					   "AND e.objid OPERATOR(pg_catalog.=) x.refobjid AND e.deptype OPERATOR(pg_catalog.=) 'e') "
					   "AND x.deptype OPERATOR(pg_catalog.=) ANY ('{i,a}'::pg_catalog.\"char\"[]))) "
					   "AND NOT EXISTS (SELECT FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang "
					   "WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass AND p.oid OPERATOR(pg_catalog.=) d.objid "
					   "AND l.lanname OPERATOR(pg_catalog.=) 'c') "
					   "ORDER BY 1");
}

/* Returns a table whose rows Citus has placed on other servers, maybe by the hash key; NULL: there is none. */
static char *
find_distributed(void)
{
	if (query_value("SELECT 1 FROM pg_catalog.pg_class WHERE relname OPERATOR(pg_catalog.=) 'pg_dist_partition' "
					"AND relnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace") == NULL)
		return NULL;
	return query_value("SELECT p.logicalrelid::pg_catalog.regclass FROM pg_catalog.pg_dist_partition p "
					   "JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) p.logicalrelid "
					   "WHERE p.partmethod OPERATOR(pg_catalog.=) 'h' AND a.atttypid IN " ENCRYPTED_TYPES " ORDER BY 1");
}

void
tde_adopt_require_undeclared(int32 slot, const char *name)
{
	char	   *declared = find_declared(slot);

	if (declared == NULL)
		declared = find_expression();
	if (declared)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot adopt keys because slot %d is not that of key \"%s\" there", slot, name),
				 errdetail("Declarations here may name it: %s.", declared),
				 errhint("Drop what is declared with encrypted types, adopt the keys, and declare it again.")));
}

void
tde_adopt_keep_others_out(void)
{
	tde_usage_refuse_prepared("adopt keys");
	LockRelationOid(tde_keys_require(), AccessExclusiveLock);
	tde_permanent_tell(tde_keys_relid());
	tde_usage_wait_for_transactions();
}

void
tde_adopt_require_unused(void)
{
	List	   *uses = tde_usage_collect(InvalidOid, true);
	char	   *distributed;

	if (uses != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot adopt keys because this database has encrypted data"),
				 errdetail_internal("%s", tde_usage_places(uses)),
				 errhint("Adopt keys before anything is encrypted, or move the data out and in: pg_dump, DROP, tde_import_keys(..., adopt => true), "
						 "and restore.")));
	distributed = find_distributed();
	if (distributed)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot adopt keys because table %s is distributed", distributed),
				 errdetail("Its rows may have been placed by hashes under the key that would go."),
				 errhint("Adopt keys before tables are distributed.")));
}
