/*
 * owner.h - running what a table's owner has put into CHECKs, indexes and generated columns with no more than his rights.
 */
#ifndef TDE_SERVER_OWNER_H
#define TDE_SERVER_OWNER_H

#include "utils/rel.h"

/* Who called, and his settings. */
typedef struct TdeCaller
{
	Oid			user;
	int			sec_context;
	int			guc_level;
} TdeCaller;

/* Until tde_owner_end(), or an error, the current user is the table's owner, restricted; PostgreSQL 17 restricts the search path as well. */
extern void tde_owner_begin(TdeCaller *caller, Relation rel);
extern void tde_owner_end(const TdeCaller *caller);

#endif							/* TDE_SERVER_OWNER_H */
