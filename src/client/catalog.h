/*
 * catalog.h - in a client's own statements the catalogs tell the base types of encrypted columns.
 */
#ifndef TDE_CLIENT_CATALOG_H
#define TDE_CLIENT_CATALOG_H

#include "nodes/parsenodes.h"

/* tde_column.transparent_catalog */
extern bool tde_transparent_catalog;

extern void tde_catalog_assign(bool newval, void *extra);

typedef struct TdeCatalogCalls
{
	/* Before a client's SELECT is planned: its scans of catalogs tell the base types.  Changes it in place. */
	void		(*show) (Query *query);
} TdeCatalogCalls;

/* The same, by the module; without it a WARNING, once. */
extern void tde_catalog_show(Query *query);

#endif							/* TDE_CLIENT_CATALOG_H */
