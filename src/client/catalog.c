/*
 * catalog.c - the module by which the catalogs tell the base types of encrypted columns in a client's own statements (modules/catalog).
 */
#include "postgres.h"

#include "utils/plancache.h"

#include "client/catalog.h"
#include "client/catalog_trees.h"
#include "server/module.h"

PG_FUNCTION_INFO_V1(tde_catalog_type);

bool		tde_transparent_catalog = false;

void
tde_catalog_show(Query *query)
{
	static bool asked = false;
	static const TdeModule *module = NULL;

	if (!asked)
	{
		asked = true;
		module = tde_module_load("catalog");
		if (module == NULL)
			ereport(WARNING,
					(errmsg("catalogs show encrypted types, although \"%s\" is on", "tde_column.transparent_catalog"),
					 errdetail("Module \"catalog\" of tde_column is missing."),
					 errhint("Install it, and begin a new session.")));
	}
	if (module)
		((const TdeCatalogCalls *) module->calls)->show(query);
}

/* Plans that there are show what the setting was when they were made. */
void
tde_catalog_assign(bool newval, void *extra)
{
	if (newval != tde_transparent_catalog)
		ResetPlanCache();
}

/* tde_catalog_type(oid) - the base type of an encrypted one, an array's likewise; any other type as it is; the install script asks it, too. */
Datum
tde_catalog_type(PG_FUNCTION_ARGS)
{
	PG_RETURN_OID(tde_catalog_shown_type(PG_GETARG_OID(0)));
}
