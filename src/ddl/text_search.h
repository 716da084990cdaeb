/*
 * text_search.h - triggers that fill a tsvector column from encrypted columns.
 */
#ifndef TDE_DDL_TEXT_SEARCH_H
#define TDE_DDL_TEXT_SEARCH_H

#include "postgres_ext.h"

/*
 * Has such triggers of a table, and of those that inherit from it, call the function that their columns need now: ours, or PostgreSQL's again.
 * Called after ALTER TABLE.  Says so by a NOTICE, and warns where words of encrypted columns are stored in clear.
 */
extern void tde_text_search_altered(Oid relid);

/* Does the same for the table of a trigger that has just been made, by the trigger's OID. */
extern void tde_text_search_created(Oid trigger);

#endif							/* TDE_DDL_TEXT_SEARCH_H */
