/*
 * node_keys.c - whether the nodes of a Citus cluster have the same hash key.
 *
 * Citus places rows by the hash function of the distribution column's type, on whichever node it plans, and has workers hash what it
 * repartitions.  For encrypted types that function is keyed (operators/hash.c).  Where nodes have hash keys of their own, rows are not
 * found, or found twice.  So a table is distributed by an encrypted column only if all nodes have the same; a worker that plans for itself
 * asks the coordinator, and who repartitions by encrypted values asks all nodes, once per session.
 *
 * What nodes tell each other is an HMAC under a key that is derived from the hash key.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "citus/node_answers.h"
#include "citus/node_keys.h"
#include "citus/tables.h"
#include "keys/keyed_hash.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/memory.h"
#include "type/base_functions.h"
#include "type/ciphertext_form.h"
#include "type/inside.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_citus_hash_fingerprint);
PG_FUNCTION_INFO_V1(tde_citus_distribute);

/* The core's, which the catalog has. */
extern PGDLLEXPORT Datum tde_distribute(PG_FUNCTION_ARGS);

/* ---- the fingerprint ---- */

#define FINGERPRINT			'f' /* see tde_key_node_digest() */
#define FINGERPRINT_BYTES	16

char *
tde_node_keys_fingerprint(void)
{
	uint8		digest[TDE_MAX_DIGEST];
	char	   *hex = palloc0(2 * FINGERPRINT_BYTES + 1);

	tde_key_node_digest(FINGERPRINT, (const uint8 *) "", 0, digest);
	hex_encode((const char *) digest, FINGERPRINT_BYTES, hex);
	return hex;
}

/* tde_hash_fingerprint() returns text - the same in two databases if they have the same hash key. */
Datum
tde_citus_hash_fingerprint(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(tde_node_keys_fingerprint()));
}

/* ---- asking other nodes ---- */

/* Returns what is wrong with one node's answer; NULL: nothing. */
static char *
find_difference(const TdeNodeAnswer *answer, const char *own)
{
	if (!answer->success)
		return psprintf("Node %s does not tell: %s", answer->node, answer->text);
	if (strcmp(answer->text, own) != 0)
		return psprintf("Node %s has another hash key than this node.", answer->node);
	return NULL;
}

/* Returns the same for all of them: the first difference. */
static char *
ask_nodes(TdeNodes whom)
{
	char	   *own = tde_node_keys_fingerprint();
	char	   *difference = NULL;
	ListCell   *cell;

	foreach(cell, tde_node_answers(whom, "SELECT tde_internal.tde_hash_fingerprint()"))
		if (difference == NULL)
			difference = find_difference(lfirst(cell), own);
	return difference;
}

/* What was found before, for this session; a later one includes the earlier. */
typedef enum Asked
{
	ASKED_NOBODY,
	ASKED_COORDINATOR,
	ASKED_ALL
} Asked;

static Asked asked = ASKED_NOBODY;
static uint64 asked_epoch = 0;	/* of our keys then */
static Oid	nodes = InvalidOid; /* Citus' table of them */

/* Citus tells when a node comes or goes. */
static void
nodes_changed(Oid relid)
{
	if (!OidIsValid(relid) || relid == nodes)
		asked = ASKED_NOBODY;
}

void
tde_node_keys_init(void)
{
	tde_memory_when_relation_changes(nodes_changed);
}

/* Throws unless they have the same keys.  Nothing is asked again while our keys and the list of nodes stay as they are. */
static void
require_same(Asked whom, const char *what)
{
	char	   *difference;

	if (asked >= whom && tde_keys_fresh(asked_epoch))
		return;
	asked = ASKED_NOBODY;
	nodes = get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE);
	difference = ask_nodes(whom == ASKED_ALL ? TDE_NODES_ALL : TDE_NODES_COORDINATOR);
	if (difference)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot %s: the nodes do not share their keys", what),
				 errdetail_internal("%s", difference),
				 errhint("Encrypted values are distributed by a keyed hash.  Give all nodes the same keys before there is encrypted data, "
						 "or distribute by a column that is not encrypted.")));
	asked = whom;
	asked_epoch = tde_keys_epoch;
}

/* ---- distributing a table ---- */

/* Functions of Citus whose first argument is a table, and the second its distribution column, if it is text. */
static const char *const distributing[] = {"create_distributed_table", "create_distributed_table_concurrently", "alter_distributed_table",
"create_reference_table", "citus_add_local_table_to_metadata"};

/* Returns true of functions that distribute tables, by their names in pg_catalog: Citus' OIDs differ from database to database. */
static bool
distributes(Oid function)
{
	char	   *name;

	if (function < FirstNormalObjectId || get_func_namespace(function) != PG_CATALOG_NAMESPACE)
		return false;
	name = get_func_name(function);
	for (int i = 0; name && i < lengthof(distributing); i++)
		if (strcmp(name, distributing[i]) == 0)
			return true;
	return false;
}

static bool
names_column(Oid function)
{
	Oid		   *types;
	int			count;

	(void) get_func_signature(function, &types, &count);
	return count > 1 && types[1] == TEXTOID;
}

/* Citus distributes by plain enums nevertheless, and then does not find rows that a worker has hashed (13.2). */
#define HASHED_OIDS "Its values are hashed by OIDs, which are others on each node."

/* Throws if the table cannot be distributed by this column.  A column that does not exist, or is plain, is left to Citus. */
static void
check_column(Oid table, const char *name)
{
	AttrNumber	column = get_attnum(table, name);
	Oid			type = column > 0 ? get_atttype(table, column) : InvalidOid;

	if (!OidIsValid(type) || tde_type_find(getBaseType(type)) == NULL)
		return;
	/* Citus casts what it compares to the domain, and believes that there is no such row if it cannot */
	if (type != getBaseType(type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot distribute table \"%s\" by column \"%s\" of a domain over an encrypted type", get_rel_name(table), name),
				 errhint("Give the column the type %s.", format_type_be(getBaseType(type)))));
	if (!tde_ciphertext_has_form(tde_type_find(type)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot distribute table \"%s\" by column \"%s\" of type %s", get_rel_name(table), name, format_type_be(type)),
				 errdetail(HASHED_OIDS),
				 errhint("Distribute it by another column.")));
	/* what was found before may be of other nodes */
	asked = ASKED_NOBODY;
	require_same(ASKED_ALL, psprintf("distribute table \"%s\" by encrypted column \"%s\"", get_rel_name(table), name));
}

/* Returns a type of a table's columns that tde_create_type() has made; NULL: there is none. */
static char *
made_type(Oid oid)
{
	Relation	table = relation_open(oid, AccessShareLock);
	char	   *made = NULL;

	for (int i = 0; i < RelationGetDescr(table)->natts && made == NULL; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(table), i);

		if (!column->attisdropped && tde_type_find(getBaseType(column->atttypid)) &&
			!OidIsValid(getExtensionOfObject(TypeRelationId, getBaseType(column->atttypid))))
			made = format_type_be(column->atttypid);
	}
	relation_close(table, AccessShareLock);
	return made;
}

/* An error context callback. */
static void
explain_made_type(void *type)
{
	if (type && geterrcode() == ERRCODE_FEATURE_NOT_SUPPORTED)
		errhint("Citus brings such a type to other nodes only with an extension.  Have the script of one make %s, by tde_create_type(), "
				"and install its files on all nodes.", (char *) type);
}

/*
 * tde_distribute(oid, VARIADIC "any") returns void - call one of Citus' functions that distribute a table with the arguments that follow,
 * once nothing speaks against it.
 */
Datum
tde_citus_distribute(PG_FUNCTION_ARGS)
{
	Oid			function = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0);
	int			count = PG_NARGS() - 1;

	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	FmgrInfo	citus;
	ErrorContextCallback explain = {error_context_stack, explain_made_type, NULL};

	if (!distributes(function) || count != get_func_nargs(function))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("tde_distribute() stands for functions of Citus, and cannot be called")));
	tde_base_require_execute(function);
	InvokeFunctionExecuteHook(function);
	if (!PG_ARGISNULL(1))
		explain.arg = made_type(PG_GETARG_OID(1));
	if (names_column(function) && !PG_ARGISNULL(1) && !PG_ARGISNULL(2))
		check_column(PG_GETARG_OID(1), text_to_cstring(PG_GETARG_TEXT_PP(2)));
	fmgr_info(function, &citus);
	InitFunctionCallInfoData(*call, &citus, count, PG_GET_COLLATION(), fcinfo->context, fcinfo->resultinfo);
	memcpy(call->args, fcinfo->args + 1, count * sizeof(NullableDatum));
	error_context_stack = &explain;
	FunctionCallInvoke(call);
	error_context_stack = explain.previous;
	PG_RETURN_VOID();
}

static Oid
distribute_function(void)
{
	Oid			types[] = {OIDOID, ANYOID};

	return tde_type_internal_function("tde_distribute", tde_distribute, types, lengthof(types));
}

/* Makes f(args) to tde_distribute(f, args), with the defaults that the planner would add, since the function's own are not known there. */
static void
guard_call(FuncExpr *call, Oid guard)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));

	if (!HeapTupleIsValid(tuple))
		return;
	call->args = lcons(makeConst(OIDOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(call->funcid), false, true),
					   expand_function_arguments(call->args, false, call->funcresulttype, tuple));
	call->funcid = guard;
	ReleaseSysCache(tuple);
}

/* An expression_tree_walker. */
static bool
guard_calls(Node *node, void *context)
{
	Oid			guard;

	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && distributes(((FuncExpr *) node)->funcid))
	{
		guard = distribute_function();
		if (OidIsValid(guard))
			guard_call((FuncExpr *) node, guard);
	}
	return expression_tree_walker(node, guard_calls, context);
}

void
tde_node_keys_guard(Query *query)
{
	ListCell   *cell;

	(void) guard_calls((Node *) query->targetList, NULL);
	/* FROM create_distributed_table(...) */
	foreach(cell, query->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_FUNCTION)
			(void) guard_calls((Node *) lfirst_node(RangeTblEntry, cell)->functions, NULL);
}

/* ---- using one ---- */

bool
tde_node_keys_is_coordinator(void)
{
	static int	group = -1;
	Oid			catalog;

	if (group < 0)
	{
		Relation	rel;
		SysScanDesc scan;
		HeapTuple	tuple;
		bool		isnull;

		catalog = get_relname_relid("pg_dist_local_group", PG_CATALOG_NAMESPACE);
		if (!OidIsValid(catalog))
			return true;
		rel = table_open(catalog, AccessShareLock);
		scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
		tuple = systable_getnext(scan);
		group = HeapTupleIsValid(tuple) ? DatumGetInt32(heap_getattr(tuple, 1, RelationGetDescr(rel), &isnull)) : 0;
		systable_endscan(scan);
		table_close(rel, AccessShareLock);
	}
	return group == 0;
}

/*
 * Returns true if Citus' plan has nodes hash encrypted values, to put together what is joined.  Throws if they would hash OIDs.  That is a job that
 * others depend on, whose partition column is printed as a Var.  It is looked for in the plan's text, since its nodes are Citus' own: a job that is
 * not what we know is an error.
 */
static bool
repartitions_encrypted(PlannedStmt *plan)
{
	const char *column = plan->planTree ? nodeToString(plan->planTree) : "";
	TdeType    *encrypted;

	if (strstr(column, ":extnodename MapMergeJob") == NULL && strstr(column, ":dependentJobList (") == NULL)
		return false;
	if (strstr(column, ":partitionColumn {VAR ") == NULL)
		elog(ERROR, "could not find the column that Citus repartitions by");
	while ((column = strstr(column, ":partitionColumn {VAR ")) != NULL)
	{
		const char *type = strstr(column, ":vartype ");

		encrypted = type ? tde_type_find(getBaseType((Oid) strtoul(type + strlen(":vartype "), NULL, 10))) : NULL;
		if (encrypted && !tde_ciphertext_has_form(encrypted))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot repartition by a column of type %s", format_type_be(encrypted->oid)),
					 errdetail(HASHED_OIDS),
					 errhint("Join by another column, with a reference table, or with a MATERIALIZED CTE.")));
		if (encrypted)
			return true;
		column++;
	}
	return false;
}

void
tde_node_keys_check(Query *query)
{
	bool		moves_rows = query->commandType == CMD_MERGE ||
	(query->commandType == CMD_INSERT && query->jointree->fromlist != NIL);

	if ((tde_node_keys_is_coordinator() && !moves_rows) || !tde_distributed_reads(query, tde_citus_by_encrypted))
		return;
	/* workers may hash what is moved */
	require_same(moves_rows ? ASKED_ALL : ASKED_COORDINATOR, "use a table that is distributed by an encrypted column");
}

void
tde_node_keys_check_plan(PlannedStmt *plan)
{
	if (tde_citus_repartitions() && repartitions_encrypted(plan))
		require_same(ASKED_ALL, "repartition by an encrypted column");
}
