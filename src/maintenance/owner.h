/*
 * owner.h - running what a table's owner has put into CHECKs, indexes, views and the like with no more than the owner's rights.
 */
#ifndef TDE_MAINTENANCE_OWNER_H
#define TDE_MAINTENANCE_OWNER_H

#include "utils/rel.h"

/* Returns true if it belongs to the role, or to a superuser.  Then it runs nothing as this role that could not be run so anyway. */
extern PGDLLEXPORT bool tde_owner_is_trusted(Oid owner, Oid role);

/* Who called, and his settings; for tde_owner_end(). */
typedef struct TdeCaller
{
	Oid			user;
	int			sec_context;
	int			guc_level;
} TdeCaller;

/*
 * Makes the current user that role, or the table's owner, until tde_owner_end(), or an error, which restores the user at the end of the
 * (sub)transaction.  He is restricted as in REINDEX and CLUSTER; PostgreSQL 17 restricts the search path as well.  They may be nested.
 */
extern void tde_owner_begin_as(TdeCaller *caller, Oid role);
extern PGDLLEXPORT void tde_owner_begin(TdeCaller *caller, Relation rel);
extern PGDLLEXPORT void tde_owner_end(const TdeCaller *caller);

/* The same with the search path that the caller has: for functions that have one by their declaration. */
extern PGDLLEXPORT void tde_owner_begin_as_on_path(TdeCaller *caller, Oid role);

/*
 * ---- what it says ----
 *
 * The owner's functions, casts and constraints may quote values of the table in what they say.  While they run for a caller who may not read it, or not
 * decrypt, their errors have a text of ours, and what is less than an error he does not get.  So it is with PostgreSQL's errors of a unique index.
 */
typedef struct TdeDiscretion
{
	ErrorContextCallback context;	/* on the error context stack; callback NULL: the caller may know */
	int			guc_level;
} TdeDiscretion;

/* To be called as the caller, before tde_owner_begin().  It lasts until tde_owner_discreet_end(), or an error. */
extern PGDLLEXPORT void tde_owner_discreet_begin(TdeDiscretion *discretion, Oid table);
extern PGDLLEXPORT void tde_owner_discreet_end(const TdeDiscretion *discretion);

#endif							/* TDE_MAINTENANCE_OWNER_H */
