/*
 * node_errors.c - errors about keys tell which node they are from; what Citus refuses because of encryption says what to do instead.
 *
 * Citus passes on what another node says, but of rows that it copies, and of what goes through a third node, not which node says it.
 * With one wallet for each node that is what one has to know.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "postmaster/postmaster.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "citus/node_errors.h"
#include "citus/tables.h"
#include "server/error.h"
#include "type/type.h"

/* ---- which node ---- */

/* How the names begin that Citus gives to its own connections. */
#define CITUS_APPLICATION	"citus_"

#define NAMES_SERVER		"Reported by the server at "

/* Returns true if this backend serves another node: Citus names its connections. */
static bool
is_for_node(void)
{
	return MyProcPort && tde_distributed_citus_is_loaded() && application_name && strncmp(application_name, CITUS_APPLICATION, strlen(CITUS_APPLICATION)) == 0;
}

void
tde_citus_name_server(ErrorData *edata)
{
	LOCAL_FCINFO(address, 0);
	Datum		host;

	if (ERRCODE_TO_CATEGORY(edata->sqlerrcode) != ERRCODE_TO_CATEGORY(ERRCODE_TDE_WALLET_CLOSED) || !is_for_node())
		return;
	/* from another node, which has named itself */
	if (edata->detail && strstr(edata->detail, NAMES_SERVER))
		return;
	/* none if it is a socket in a folder */
	InitFunctionCallInfoData(*address, NULL, 0, InvalidOid, NULL, NULL);
	host = inet_server_addr(address);
	if (address->isnull)
		return;
	edata->detail = psprintf("%s%s" NAMES_SERVER "%s:%d.", edata->detail ? edata->detail : "", edata->detail ? "  " : "",
							 DatumGetCString(DirectFunctionCall1(inet_out, host)), PostPortNumber);
}

/* ---- joins ---- */

static bool
is_encrypted(Node *expr)
{
	return tde_type_find(getBaseType(exprType(expr))) != NULL;
}

/* A query_or_expression_tree_walker: true of a comparison of an encrypted column of one table with a plain one of another. */
static bool
joins_mixed(Node *node, void *context)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, OpExpr) && list_length(((OpExpr *) node)->args) == 2)
	{
		Node	   *left = linitial(((OpExpr *) node)->args);
		Node	   *right = lsecond(((OpExpr *) node)->args);

		if (is_encrypted(left) != is_encrypted(right) && contain_var_clause(left) && contain_var_clause(right) &&
			!bms_equal(pull_varnos(NULL, left), pull_varnos(NULL, right)))
			return true;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, joins_mixed, context, 0);
	return expression_tree_walker(node, joins_mixed, context);
}

void
tde_citus_explain(void *query)
{
	if (geterrcode() != ERRCODE_FEATURE_NOT_SUPPORTED || !joins_mixed((Node *) query, NULL))
		return;
	if (!tde_citus_repartitions())
		errhint("Set citus.enable_repartition_joins to on, and nodes can join an encrypted column with a plain one.");
	else
		errhint("An encrypted column and a plain one have different hashes, so nodes cannot join by them.  Join with what a CTE has decrypted, "
				"WITH x AS MATERIALIZED (SELECT column::type ...), or encrypt both columns.");
}
