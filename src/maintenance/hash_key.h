/*
 * hash_key.h - another hash key, and the indexes that depend on it.
 */
#ifndef TDE_MAINTENANCE_HASH_KEY_H
#define TDE_MAINTENANCE_HASH_KEY_H

#include "nodes/pg_list.h"

/* By OID, an index in the place of its table. */
typedef struct TdeHashKeyUsers
{
	List	   *tables;
	List	   *indexes;
} TdeHashKeyUsers;

/*
 * Before the hash key changes in this transaction, and table.h's row of it: locks tde.data_keys, the tables and the key itself, which nobody uses
 * then.  ereport if something depends on the key that cannot be built anew.
 */
extern PGDLLEXPORT void tde_hash_key_lock(TdeHashKeyUsers *users);

/* After it has changed: build the indexes anew, and have nobody keep a plan. */
extern PGDLLEXPORT void tde_hash_key_rebuild(const TdeHashKeyUsers *users);

#endif							/* TDE_MAINTENANCE_HASH_KEY_H */
