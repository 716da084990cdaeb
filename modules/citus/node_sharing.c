/*
 * node_sharing.c - keys that change on the coordinator come to all other nodes of a cluster whose nodes have the same keys.
 *
 * tde_rotate_key() makes a version that nothing is encrypted under, has all nodes adopt it, lets values take it, and has all adopt that: whoever
 * meets a value has its key.  What nodes adopt does not wait for this transaction's commit.  After a rollback they are ahead of the coordinator by
 * a version that it has, too, as prepared; the next rotation goes on there.
 */
#include "postgres.h"

#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "citus/node_keys.h"
#include "citus/node_sharing.h"
#include "keys/table.h"
#include "server/compat.h"
#include "server/module.h"

/* run_command_on_all_nodes() would include this one, which waits for its own locks. */
#define RUN_ON_OTHERS \
	"SELECT r.node_name || ':' || r.node_port, r.success, r.result" \
	" FROM (SELECT array_agg(nodename) AS names, array_agg(nodeport) AS ports, array_agg($1) AS commands" \
	" FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND nodecluster = current_setting('citus.cluster_name')" \
	" AND groupid <> (SELECT groupid FROM pg_dist_local_group)) n," \
	" LATERAL master_run_on_worker(n.names, n.ports, n.commands, true) r"

typedef struct Answer
{
	char	   *node;
	bool		success;
	char	   *text;			/* the result, or the error */
} Answer;

static Answer *
copied_answer(HeapTuple row, TupleDesc columns, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	Answer	   *answer = palloc0(sizeof(Answer));
	char	   *success = SPI_getvalue(row, columns, 2);
	char	   *text = SPI_getvalue(row, columns, 3);

	answer->node = pstrdup(SPI_getvalue(row, columns, 1));
	answer->success = success && success[0] == 't';
	answer->text = pstrdup(text ? text : "no answer");
	MemoryContextSwitchTo(old);
	return answer;
}

/* A command on each other node: a list of Answer. */
static List *
run_on_others(const char *command)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(command)};
	List	   *answers = NIL;
	int			level = NewGUCNestLevel();

	/* the names that follow are not looked up elsewhere */
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(RUN_ON_OTHERS, lengthof(types), types, values, NULL, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute failed");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext old;
		Answer	   *answer;

		CHECK_FOR_INTERRUPTS();
		answer = copied_answer(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, context);
		old = MemoryContextSwitchTo(context);
		answers = lappend(answers, answer);
		MemoryContextSwitchTo(old);
	}
	SPI_finish();
	AtEOXact_GUC(true, level);
	return answers;
}

pg_noreturn static void
failed_error(const Answer *answer)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("could not bring keys to node %s", answer->node),
			 errdetail_internal("%s", answer->text),
			 errhint("Nothing is encrypted under a key that a node lacks.  Mend the node, or take it out with citus_disable_node(), and repeat the call.")));
}

bool
tde_node_sharing(void)
{
	const char *own;
	bool		shared = false;
	ListCell   *cell;

	/* the server has Citus, and not this database */
	if (!OidIsValid(get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE)))
		return false;
	own = tde_node_keys_fingerprint();
	foreach(cell, run_on_others("SELECT tde_internal.tde_hash_fingerprint()"))
	{
		const Answer *answer = lfirst(cell);

		if (!answer->success)
			failed_error(answer);
		shared |= strcmp(answer->text, own) == 0;
	}
	if (!shared)
		return false;
	if (!tde_node_keys_is_coordinator())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot change keys on a worker, since the nodes share their keys"),
				 errhint("Call the function on the coordinator, which brings the keys to all nodes.")));
	LockRelationOid(tde_keys_require(), ShareUpdateExclusiveLock);
	return true;
}

void
tde_node_sharing_bring(void)
{
	PGFunction	give = tde_module_function("transfer", "tde_transfer_give_keys");
	char	   *keys = TextDatumGetCString(DirectFunctionCall1(give, (Datum) 0));
	const char *own = tde_node_keys_fingerprint();
	ListCell   *cell;

	/* nodes with keys of their own, beside others, keep them */
	foreach(cell, run_on_others(psprintf("SELECT CASE WHEN tde_internal.tde_hash_fingerprint() = %s THEN tde_internal.tde_take_keys(%s) END",
												 quote_literal_cstr(own), quote_literal_cstr(keys))))
		if (!((Answer *) lfirst(cell))->success)
			failed_error(lfirst(cell));
}
