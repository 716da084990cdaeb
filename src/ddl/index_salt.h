/*
 * index_salt.h - the salts of indexes of GIN whose entries tell nothing.
 */
#ifndef TDE_DDL_INDEX_SALT_H
#define TDE_DDL_INDEX_SALT_H

#include "utils/relcache.h"

/* Has an index a column with one of our classes of GIN and no salt?  classes: those of all key columns. */
extern bool tde_index_salts_missing(Relation rel, int count, const Oid *classes);

/* Gives each of these columns one, where the index has just been made, and is going to be built; returns whether it did. */
extern bool tde_index_salts_draw(Relation rel, int count, const Oid *classes);

#endif							/* TDE_DDL_INDEX_SALT_H */
