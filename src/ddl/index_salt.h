/*
 * index_salt.h - the salts of indexes of GIN whose entries tell nothing.
 */
#ifndef TDE_DDL_INDEX_SALT_H
#define TDE_DDL_INDEX_SALT_H

#include "utils/relcache.h"

/*
 * Returns true if an index has a column with one of our classes of GIN and no salt.  count, classes: the key columns of the index and their operator
 * classes.
 */
extern bool tde_index_salts_missing(Relation rel, int count, const Oid *classes);

/*
 * Gives each of these columns a salt, as the option of its class in pg_attribute.  The index has just been made, and is not built yet.  Returns true
 * if it drew one; the caller then has the relation cache read the index anew.  False during pg_upgrade, for files that are kept, and within REPACK.
 */
extern bool tde_index_salts_draw(Relation rel, int count, const Oid *classes);

#endif							/* TDE_DDL_INDEX_SALT_H */
