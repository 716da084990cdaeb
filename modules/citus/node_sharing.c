/*
 * node_sharing.c - keys that change on the coordinator come to all other nodes of a cluster whose nodes have the same keys.
 *
 * tde_rotate_key() makes a version that nothing is encrypted under, has all nodes adopt it, lets values take it, and has all adopt that: whoever
 * meets a value has its key.  What nodes adopt does not wait for this transaction's commit.  After a rollback they are ahead of the coordinator by
 * a version that it has, too, as prepared; the next rotation goes on there.
 */
#include "postgres.h"

#include "catalog/pg_namespace.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "citus/node_answers.h"
#include "citus/node_keys.h"
#include "citus/node_sharing.h"
#include "keys/table.h"
#include "server/compat.h"
#include "server/module.h"

pg_noreturn static void
failed_error(const TdeNodeAnswer *answer)
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
	foreach(cell, tde_node_answers(TDE_NODES_OTHERS, "SELECT tde_internal.tde_hash_fingerprint()"))
	{
		const TdeNodeAnswer *answer = lfirst(cell);

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
	const char *command;
	ListCell   *cell;

	/* nodes with keys of their own, beside others, keep them */
	command = psprintf("SELECT CASE WHEN tde_internal.tde_hash_fingerprint() = %s THEN tde_internal.tde_take_keys(%s) END",
					   quote_literal_cstr(own), quote_literal_cstr(keys));
	foreach(cell, tde_node_answers(TDE_NODES_OTHERS, command))
		if (!((TdeNodeAnswer *) lfirst(cell))->success)
			failed_error(lfirst(cell));
}
