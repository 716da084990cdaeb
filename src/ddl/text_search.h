/*
 * text_search.h - triggers that fill a tsvector column from encrypted columns.
 */
#ifndef TDE_DDL_TEXT_SEARCH_H
#define TDE_DDL_TEXT_SEARCH_H

#include "postgres_ext.h"

/* After ALTER TABLE: let such triggers of a table, and of those that inherit from it, call the function that its columns need now. */
extern void tde_text_search_altered(Oid relid);

/* After CREATE TRIGGER: the same for its table. */
extern void tde_text_search_created(Oid trigger);

#endif							/* TDE_DDL_TEXT_SEARCH_H */
