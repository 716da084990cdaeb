/*
 * owner.c - running what a table's owner has put into CHECKs, indexes, views and the like with no more than the owner's rights;
 * and without telling the caller what it says.
 *
 * A superuser converts a column of somebody's table.  Whatever is read again for it, as a text or as a tree, may run the owner's code:
 * functions, but also the input function of a type in a literal, with the CHECKs of a domain in it.  So every command that concerns the
 * table, or what depends on it, is the owner's command, as REINDEX evaluates an index as its owner.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"

#include "maintenance/owner.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/table_name.h"
#include "type/access.h"

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

/* ---- what it says ---- */

/* Returns true of errors that quote nothing, or that end the command in any case. */
static bool
has_no_values(int code)
{
	switch (ERRCODE_TO_CATEGORY(code))
	{
		case ERRCODE_TO_CATEGORY(ERRCODE_TDE_WALLET_CLOSED):
		case ERRCODE_INTERNAL_ERROR:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_TRANSACTION_ROLLBACK:
			return true;
		default:
			return false;
	}
}

/* An error context callback, of all that is said: somebody else's INFO, which no setting keeps from the client, as well as errors. */
static void
keep_text(void *table)
{
	if (has_no_values(geterrcode()))
		return;
	errmsg("message of an index or a function of table %s is not shown", (const char *) table);
	errdetail("It may have values of the table, which you may not read.");
	errhint("Have somebody do this who may read the table and decrypt.");
}

void
tde_owner_discreet_begin(TdeDiscretion *discretion, Oid table)
{
	bool		may_know = pg_class_aclcheck(table, GetUserId(), ACL_SELECT) == ACLCHECK_OK && tde_access_is_permitted();

	discretion->context = (ErrorContextCallback) {.previous = error_context_stack};
	if (may_know)
		return;
	discretion->context.callback = keep_text;
	discretion->context.arg = tde_table_name(table);
	error_context_stack = &discretion->context;
	discretion->guc_level = NewGUCNestLevel();
	(void) set_config_option("client_min_messages", "error", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

void
tde_owner_discreet_end(const TdeDiscretion *discretion)
{
	if (discretion->context.callback == NULL)
		return;
	AtEOXact_GUC(false, discretion->guc_level);
	error_context_stack = discretion->context.previous;
}
