/*
 * node_answers.c - what the nodes of a cluster answer to a command.
 *
 * Citus has SQL functions for that, and no interface in C.  They are called under a search path of pg_catalog, so nobody else's functions of these
 * names are.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "citus/node_answers.h"
#include "server/compat.h"

/* The command is $1; the names that follow are looked up in pg_catalog alone. */
static const char *const questions[] = {
	[TDE_NODES_ALL] =
	"SELECT coalesce(n.nodename || ':' || n.nodeport, 'this node'), r.success, r.result"
	" FROM run_command_on_all_nodes($1) r LEFT JOIN pg_dist_node n ON n.nodeid = r.nodeid",
	[TDE_NODES_OTHERS] =
	"SELECT r.node_name || ':' || r.node_port, r.success, r.result"
	" FROM (SELECT array_agg(nodename) AS names, array_agg(nodeport) AS ports, array_agg($1) AS commands"
	" FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND nodecluster = current_setting('citus.cluster_name')"
	" AND groupid <> (SELECT groupid FROM pg_dist_local_group)) n,"
	" LATERAL master_run_on_worker(n.names, n.ports, n.commands, true) r",
	[TDE_NODES_COORDINATOR] =
	"SELECT coalesce(n.nodename || ':' || n.nodeport, 'the coordinator'), r.success, r.result"
	" FROM run_command_on_coordinator($1) r LEFT JOIN pg_dist_node n ON n.nodeid = r.nodeid",
};

/* Copies an answer out of SPI's memory.  No result at all is an answer that is equal to none. */
static TdeNodeAnswer *
answer_of(HeapTuple row, TupleDesc columns)
{
	TdeNodeAnswer *answer = palloc0(sizeof(TdeNodeAnswer));
	char	   *success = SPI_getvalue(row, columns, 2);
	char	   *text = SPI_getvalue(row, columns, 3);

	answer->node = SPI_getvalue(row, columns, 1);
	answer->success = success && success[0] == 't';
	answer->text = text ? text : pstrdup("no answer");
	return answer;
}

List *
tde_node_answers(TdeNodes nodes, const char *command)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(command)};
	List	   *answers = NIL;
	int			level = NewGUCNestLevel();

	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(questions[nodes], lengthof(types), types, values, NULL, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute failed");
	/* the answers outlive SPI */
	MemoryContextSwitchTo(context);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		CHECK_FOR_INTERRUPTS();
		answers = lappend(answers, answer_of(SPI_tuptable->vals[i], SPI_tuptable->tupdesc));
	}
	SPI_finish();
	AtEOXact_GUC(true, level);
	return answers;
}
