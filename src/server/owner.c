/*
 * owner.c - running what a table's owner has put into CHECKs, indexes and generated columns with no more than his rights.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"

#include "server/compat.h"
#include "server/owner.h"

void
tde_owner_begin(TdeCaller *caller, Relation rel)
{
	GetUserIdAndSecContext(&caller->user, &caller->sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner, caller->sec_context | SECURITY_RESTRICTED_OPERATION);
	caller->guc_level = NewGUCNestLevel();
	TDE_RESTRICT_SEARCH_PATH();
}

void
tde_owner_end(const TdeCaller *caller)
{
	AtEOXact_GUC(false, caller->guc_level);
	SetUserIdAndSecContext(caller->user, caller->sec_context);
}
