/*
 * catalog.h - in a client's own statements the catalogs tell the base types of encrypted columns.
 */
#ifndef TDE_CLIENT_CATALOG_H
#define TDE_CLIENT_CATALOG_H

#include "nodes/parsenodes.h"

/* tde_column.transparent_catalog */
extern bool tde_transparent_catalog;

extern void tde_catalog_assign(bool newval, void *extra);

/* The modifier of the base type, of tde_shown_type(oid). */
extern int32 tde_shown_typmod(Oid oid, int32 typmod);

/* The operator class of the base type that an encrypted type's stands for; any other as it is. */
extern Oid	tde_shown_class(Oid opclass);

/* Before a client's SELECT is planned: its scans of catalogs tell the base types.  Changes it in place. */
extern void tde_catalog_show(Query *query);

#endif							/* TDE_CLIENT_CATALOG_H */
