/*
 * owner.c - running what a table's owner has put into CHECKs, indexes, views and the like with no more than the owner's rights.
 *
 * A superuser converts a column of somebody's table.  Whatever is read again for it, as a text or as a tree, may run the owner's code:
 * functions, but also the input function of a type in a literal, with the CHECKs of a domain in it.  So every command that concerns the
 * table, or what depends on it, is the owner's command, as REINDEX evaluates an index as its owner.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "maintenance/owner.h"
#include "server/compat.h"

PG_FUNCTION_INFO_V1(tde_run_as);

void
tde_role_begin(TdeCaller *caller, Oid role)
{
	GetUserIdAndSecContext(&caller->user, &caller->sec_context);
	SetUserIdAndSecContext(role, caller->sec_context | SECURITY_RESTRICTED_OPERATION);
	caller->guc_level = NewGUCNestLevel();
	TDE_RESTRICT_SEARCH_PATH();
}

void
tde_owner_begin(TdeCaller *caller, Relation rel)
{
	tde_role_begin(caller, rel->rd_rel->relowner);
}

void
tde_owner_end(const TdeCaller *caller)
{
	AtEOXact_GUC(false, caller->guc_level);
	SetUserIdAndSecContext(caller->user, caller->sec_context);
}

void
tde_role_begin_on_path(TdeCaller *caller, Oid role)
{
	char	   *path = pstrdup(GetConfigOption("search_path", false, false));

	tde_role_begin(caller, role);
	(void) set_config_option("search_path", path, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/* ---- commands ---- */

/*
 * Is it whoever is logged in, and nobody else whose rights could be got back by RESET ROLE?  Then there is nothing to give up, and
 * temporary objects, which a restricted operation may not make, can be made.
 */
static bool
is_logged_in(Oid role)
{
	return role == GetUserId() && role == GetSessionUserId() && role == GetAuthenticatedUserId();
}

/*
 * Could the caller SET ROLE to it?  Where that is forbidden, in SECURITY DEFINER functions and restricted operations, only a superuser
 * has all of the role's rights already, and attributes that nobody inherits.
 */
static bool
may_become(Oid role)
{
	Oid			user = GetUserId();

	return role == user || superuser_arg(user) ||
		(!InLocalUserIdChange() && !InSecurityRestrictedOperation() && TDE_MAY_BECOME(user, role));
}

static void
run_commands(const char *commands)
{
	int			result;

	SPI_connect();
	result = SPI_execute(commands, false, 0);
	if (result < 0)
		elog(ERROR, "SPI_execute: %s", SPI_result_code_string(result));
	SPI_finish();
}

/*
 * tde_run_as(role oid, commands text) - run commands as this role, restricted, with the search path of the function's declaration.  For
 * those who could SET ROLE to it.
 */
Datum
tde_run_as(PG_FUNCTION_ARGS)
{
	Oid			role = PG_GETARG_OID(0);
	char	   *name = GetUserNameFromId(role, false);
	char	   *commands = text_to_cstring(PG_GETARG_TEXT_PP(1));
	TdeCaller	caller;

	if (!may_become(role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set role \"%s\"", name),
				 errdetail("What belongs to a table or view is made as its owner."),
				 errhint("GRANT %s TO %s;", quote_identifier(name), quote_identifier(GetUserNameFromId(GetUserId(), false)))));
	if (is_logged_in(role))
	{
		run_commands(commands);
		PG_RETURN_VOID();
	}
	tde_role_begin_on_path(&caller, role);
	run_commands(commands);
	tde_owner_end(&caller);
	PG_RETURN_VOID();
}
