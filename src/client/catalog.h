/*
 * catalog.h - in a client's own statements the catalogs tell the base types of encrypted columns.
 */
#ifndef TDE_CLIENT_CATALOG_H
#define TDE_CLIENT_CATALOG_H

#include "nodes/parsenodes.h"

/* GUC tde_column.transparent_catalog, which every role may set.  It has no effect without tde_column.transparent_results. */
extern bool tde_transparent_catalog;

/* The assign hook of that.  Throws away the plans of the session, which show what the setting was when they were made. */
extern void tde_catalog_assign(bool newval, void *extra);

/* What the core calls in the module "catalog". */
typedef struct TdeCatalogCalls
{
	/* Before a client's SELECT is planned: its scans of catalogs tell the base types.  Changes it in place. */
	void		(*show) (Query *query);
} TdeCatalogCalls;

/*
 * Calls show() of the module, which is loaded by the first call in a session.  If it is missing, a WARNING says so once, and the catalogs stay as
 * they are.
 */
extern void tde_catalog_show(Query *query);

#endif							/* TDE_CLIENT_CATALOG_H */
