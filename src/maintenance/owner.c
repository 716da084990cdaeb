/*
 * owner.c - running what a table's owner has put into CHECKs, indexes, views and the like with no more than the owner's rights.
 *
 * A superuser converts a column of somebody's table.  Whatever is read again for it, as a text or as a tree, may run the owner's code:
 * functions, but also the input function of a type in a literal, with the CHECKs of a domain in it.  So every command that concerns the
 * table, or what depends on it, is the owner's command, as REINDEX evaluates an index as its owner.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"

#include "maintenance/owner.h"
#include "server/compat.h"

bool
tde_owner_is_trusted(Oid owner, Oid role)
{
	return owner == role || superuser_arg(owner);
}

void
tde_owner_begin_as(TdeCaller *caller, Oid role)
{
	GetUserIdAndSecContext(&caller->user, &caller->sec_context);
	SetUserIdAndSecContext(role, caller->sec_context | SECURITY_RESTRICTED_OPERATION);
	caller->guc_level = NewGUCNestLevel();
	TDE_RESTRICT_SEARCH_PATH();
}

void
tde_owner_begin(TdeCaller *caller, Relation rel)
{
	tde_owner_begin_as(caller, rel->rd_rel->relowner);
}

void
tde_owner_end(const TdeCaller *caller)
{
	AtEOXact_GUC(false, caller->guc_level);
	SetUserIdAndSecContext(caller->user, caller->sec_context);
}

void
tde_owner_begin_as_on_path(TdeCaller *caller, Oid role)
{
	char	   *path = pstrdup(GetConfigOption("search_path", false, false));

	tde_owner_begin_as(caller, role);
	(void) set_config_option("search_path", path, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}
