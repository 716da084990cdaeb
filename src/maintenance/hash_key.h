/*
 * hash_key.h - another hash key, and the indexes that depend on it.
 */
#ifndef TDE_MAINTENANCE_HASH_KEY_H
#define TDE_MAINTENANCE_HASH_KEY_H

#include "nodes/pg_list.h"

/* What depends on the hash key, by OID: the indexes, and each of their tables once. */
typedef struct TdeHashKeyUsers
{
	List	   *tables;
	List	   *indexes;
} TdeHashKeyUsers;

/*
 * Locks tde.data_keys, the tables and the key itself, which nobody uses then, before the hash key changes in this transaction, and table.h's row of
 * it.  Fills in *users.  Throws ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST if something depends on the key that cannot be built anew, and what
 * tde_keyed_hash_take() does.
 */
extern PGDLLEXPORT void tde_hash_key_lock(TdeHashKeyUsers *users);

/* After it has changed: builds the indexes anew, and has nobody keep a plan.  Expressions run as the table's owner. */
extern PGDLLEXPORT void tde_hash_key_rebuild(const TdeHashKeyUsers *users);

#endif							/* TDE_MAINTENANCE_HASH_KEY_H */
