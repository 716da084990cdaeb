/*
 * hooks.c - loads the library, and is the one place where PostgreSQL's hooks call it: each is installed once, and calls ours in a written order.
 *
 * They come in front of those of all other libraries, whatever the order in which libraries are loaded: nobody is to see a secret
 * in a statement's text or in a log entry (server/), and what is planned and run for others, encrypted columns inside and base types
 * outside, is the same for all of them (client/).  So they are installed when all libraries of shared_preload_libraries are loaded;
 * in a library that a session loads, at once.  Only shared memory's own hooks are elsewhere: server/memory.c.
 *
 * What becomes of a statement, and who is called for it:
 *
 *	parsed		no hook of ours: input functions encrypt constants as literals (type/cast.c)
 *	analyzed	post_parse_analyze(): others get the text without secrets; what calls another function for being encrypted is refused
 *				(functions/analyzed.c); a client's result gets base types (client/statements.c)
 *	planned		plan_query(): results that receivers decrypt are taken out again (client/postponed.c), conditions get the form that indexes
 *				have (operators/index_conditions.c), calls are told columns with masks (modules/masks/mask_columns.c), Citus plans through
 *				its module; values get the specification of the column that stores them (ddl/stored_spec.c)
 *				Each table's paths get those by which an index of encrypted results gives an order (operators/indexed_order.c); what a tsvector has
 *				is estimated by lexemes that were kept encrypted (type/lexeme_statistics.c)
 *	executed	functions/execution.c: receivers that decrypt, or look at keys, stand before the client's
 *	utility		process_utility(): keys that declarations need are made, and guards look, before the command runs
 *	made		object_access(): an index of a column without order gets a class that tells none, before it is built;
 *				ANALYZE of a column of arrays and the like is ours (ddl/container_statistics.c)
 *	logged		emit_log(): no entry passes with a secret or a value in clear (server/log.c)
 *
 * Parallel workers are only executed.  A library that a function's call loads has not seen its statement planned.
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "tcop/utility.h"

#include "client/catalog.h"
#include "client/held_cursors.h"
#include "client/key_errors.h"
#include "client/languages.h"
#include "client/operand_results.h"
#include "client/output_plugin.h"
#include "client/postponed.h"
#include "client/result_receiver.h"
#include "client/routines.h"
#include "client/statements.h"
#include "crypto/primitives.h"
#include "ddl/alter_table.h"
#include "ddl/container_statistics.h"
#include "ddl/copied_database.h"
#include "ddl/declare.h"
#include "ddl/explain_error.h"
#include "ddl/foreign_keys.h"
#include "ddl/index_order.h"
#include "ddl/kept_encrypted.h"
#include "ddl/stored_spec.h"
#include "distributed/distribution.h"
#include "functions/analyzed.h"
#include "functions/execution.h"
#include "functions/secrets.h"
#include "functions/settings.h"
#include "keys/cache.h"
#include "keys/keyed_hash.h"
#include "keys/required.h"
#include "keys/table.h"
#include "keys/unwrapped.h"
#include "maintenance/closed_wallet.h"
#include "maintenance/databases.h"
#include "operators/computed.h"
#include "operators/computed_choice.h"
#include "operators/index_conditions.h"
#include "operators/indexed_order.h"
#include "operators/indexed_tables.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/drawn_ahead.h"
#include "server/error.h"
#include "server/memory.h"
#include "server/module.h"
#include "server/probe_counts.h"
#include "server/statement.h"
#include "type/access.h"
#include "type/call.h"
#include "type/inside.h"
#include "type/lexeme_statistics.h"
#include "type/masks.h"
#include "type/opened.h"
#include "type/node_form.h"
#include "type/type.h"
#include "wallet/wallet.h"

TDE_LIBRARY_MAGIC("tde_column");

void		_PG_init(void);

extern Datum tde_in(PG_FUNCTION_ARGS);
extern Datum tde_typmod_in(PG_FUNCTION_ARGS);
extern Datum tde_computed(PG_FUNCTION_ARGS);

/* What the hooks were before, or PostgreSQL's own functions. */
static post_parse_analyze_hook_type next_post_parse_analyze = NULL;
static planner_hook_type next_planner = standard_planner;
static set_rel_pathlist_hook_type next_set_rel_pathlist = NULL;
static get_relation_stats_hook_type next_get_relation_stats = NULL;
static get_index_stats_hook_type next_get_index_stats = NULL;
static ProcessUtility_hook_type next_process_utility = standard_ProcessUtility;
static object_access_hook_type next_object_access = NULL;
static emit_log_hook_type next_emit_log = NULL;
static needs_fmgr_hook_type next_needs_fmgr = NULL;
static fmgr_hook_type next_fmgr = NULL;

/* Set once, by install(): every statement asks. */
static bool citus_is_loaded = false;

/* ---- a statement is analyzed and planned ---- */

/*
 * Secrets first, since others take the text from here.  The client's results last: others want to see what the client wrote, and the
 * query's identifier has been computed of that, too.
 */
static void
post_parse_analyze(TDE_ANALYZE_PARAMETERS)
{
	const char *text = pstate->p_sourcetext;
	bool		core;

	pstate->p_sourcetext = tde_statement_analyzed(text);
	if (next_post_parse_analyze)
		next_post_parse_analyze(pstate, query, jumble);
	pstate->p_sourcetext = text;
	if (unlikely(pstate->p_pre_columnref_hook != NULL))
		tde_routine_call_analyzed(query);
	if (unlikely(tde_statement.utility != NULL))
		tde_kept_view_columns(pstate, query);
	tde_analyzed_tree(pstate, query);
	core = tde_outputs_are_core(query);
	if (!core)
		tde_operand_results(query);
	if (tde_client_possible())
		tde_client_analyzed(pstate, query, core);
}

/*
 * What the receiver decrypts must be out of the query before it is planned, and so must be expressions that are to be found in indexes; what catalogs
 * tell a client must be in it.  Stored values are looked for in what was planned.  The items of postponed columns go into plan->invalItems, which is
 * copied along with the plan, and kept.
 */
static pg_noinline PlannedStmt *
plan_prepared(TDE_PLANNER_PARAMETERS)
{
	List	   *postponed = tde_client_possible() ? tde_receiver_plan(query, source) : NIL;
	List	   *masked = NIL;
	TdeStores	outer = tde_statement_begin(false);
	PlannedStmt *plan;

	tde_statement_planned(source);
	if (unlikely(tde_transparent_catalog))
		tde_client_plans(query, source);
	tde_index_conditions_prepare(query);
	if (unlikely(tde_access_restricted) && !citus_is_loaded)
		masked = tde_masks_columns(query);
	plan = unlikely(citus_is_loaded) ? tde_distributed_citus_plan(next_planner, TDE_PLANNER_ARGUMENTS) :
		next_planner(TDE_PLANNER_ARGUMENTS);
	if (postponed)
		plan->invalItems = list_concat(list_concat(postponed, masked), plan->invalItems);
	tde_stored_spec_planned(plan);
	tde_statement_end(outer);
	return plan;
}

/* For most statements of the server there is nothing to prepare.  Where there is a catalog module or Citus, there may be. */
static PlannedStmt *
plan_query(TDE_PLANNER_PARAMETERS)
{
	TdeStores	outer;
	PlannedStmt *plan;

	if (unlikely(!tde_hidden_may_be_seen(source) || !tde_index_conditions_none(query) || tde_transparent_catalog || citus_is_loaded ||
				 !tde_receiver_plans_core(query, source)))
		return plan_prepared(TDE_PLANNER_ARGUMENTS);
	outer = tde_statement_begin(false);
	plan = next_planner(TDE_PLANNER_ARGUMENTS);
	tde_stored_spec_planned(plan);
	tde_statement_end(outer);
	return plan;
}

/* First, so that others find all there is, and what they take away stays away. */
static pg_noinline void
add_paths(PlannerInfo *root, RelOptInfo *rel, Index rtindex, RangeTblEntry *entry)
{
	tde_indexed_order_paths(root, rel, entry);
	if (next_set_rel_pathlist)
		next_set_rel_pathlist(root, rel, rtindex, entry);
}

/* For plain tables, as most are, there is no path of ours to add.  Another library's hook is called for all. */
static void
set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rtindex, RangeTblEntry *entry)
{
	if (entry->rtekind != RTE_RELATION || !tde_table_is_known_plain(entry->relid) || next_set_rel_pathlist)
		add_paths(root, rel, rtindex, entry);
}

/* ---- a utility command ---- */

/* What a utility hook is called with, but for the statement. */
typedef struct Utility
{
	PlannedStmt *planned;
	const char *source;
	bool		read_only_tree;
	ProcessUtilityContext context;
	ParamListInfo params;
	QueryEnvironment *environment;
	DestReceiver *dest;
	QueryCompletion *completion;
} Utility;

/* A TdeRunUtility: runs one step in place of the command, with all else that the hook was called with. */
static void
run_instead(Node *statement, void *arg)
{
	Utility    *utility = arg;
	PlannedStmt *planned = makeNode(PlannedStmt);

	*planned = *utility->planned;
	planned->utilityStmt = statement;
	next_process_utility(planned, utility->source, utility->read_only_tree, utility->context, utility->params, utility->environment, utility->dest,
						 utility->completion);
}

/*
 * VACUUM and REINDEX of many tables may be several steps while the wallet is closed (maintenance/closed_wallet.c).  Each other command runs as it is.
 */
static void
run_utility(Utility *utility)
{
	Node	   *statement = utility->planned->utilityStmt;
	List	   *instead;

	if (unlikely(tde_closed_wallet_changes(statement, utility->context == PROCESS_UTILITY_TOPLEVEL, &instead)))
		tde_closed_wallet_run(instead, run_instead, utility);
	else
		next_process_utility(utility->planned, utility->source, utility->read_only_tree, utility->context, utility->params, utility->environment,
							 utility->dest, utility->completion);
}

/*
 * In this order: no secrets for the others; a parse tree of our own, where it is changed or known again by its address; declarations, which may make
 * keys; the client's cursors and prepared statements.  Of utility commands, only COPY FROM changes rows of the user's.
 *
 * tde_statement says what runs, for as long as it does; an error restores it, too.  The error contexts are on this function's stack, and PostgreSQL
 * drops them at an error.
 */
static void
process_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree, ProcessUtilityContext context,
				ParamListInfo params, QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *completion)
{
	TdeStatement outer = tde_statement;
	TdeStatement inner = {.source = tde_statement_utility(pstmt, query), .client = tde_client_sent(context, query)};
	const DestReceiver *rows = dest;
	ErrorContextCallback *stack = error_context_stack;
	ErrorContextCallback hint = {stack, tde_ddl_explains(pstmt->utilityStmt), pstmt->utilityStmt};
	ErrorContextCallback explain;
	ErrorContextCallback keys;
	ErrorContextCallback language;
	List	   *members;

	if (read_only_tree && (tde_ddl_rewrites(pstmt->utilityStmt) || tde_client_recognizes(pstmt->utilityStmt)))
	{
		pstmt = copyObject(pstmt);
		read_only_tree = false;
	}
	inner.utility = pstmt->utilityStmt;
	inner.declares = outer.declares || tde_ddl_stores_types(inner.utility);
	inner.copied = tde_call_copied_table(inner.utility);
	tde_secrets_utility(inner.utility);
	inner.changes_data = IsA(inner.utility, CopyStmt) && ((CopyStmt *) inner.utility)->is_from;
	inner.stores = outer.stores;
	tde_drawn_ahead_drop(rows);
	dest = tde_language_receiver(dest);

	PG_TRY();
	{
		tde_statement.declares = inner.declares;
		if (hint.callback)
			error_context_stack = &hint;
		tde_explain_drop_extension(inner.utility);
		members = tde_alter_table_begin(inner.utility, inner.source);
		tde_ddl_prepare(inner.utility, inner.source, &explain);
		if (tde_client_possible())
			dest = tde_client_prepare(inner.utility, dest);
		if (inner.changes_data || IsA(inner.utility, IndexStmt))
		{
			keys = (ErrorContextCallback) {error_context_stack, tde_key_errors_explain, NULL};
			error_context_stack = &keys;
		}
		if (tde_language_do(inner.utility, &language))
			error_context_stack = &language;
		tde_statement = inner;
		(void) tde_statement_begin(tde_statement_utility_stores(inner.utility));
		run_utility(&(Utility) {pstmt, inner.source, read_only_tree, context, params, environment, dest, completion});
		tde_foreign_keys_end(members);
		tde_database_copied(inner.utility);
	}
	PG_CATCH();
	{
		tde_statement = outer;
		PG_RE_THROW();
	}
	PG_END_TRY();
	error_context_stack = stack;
	tde_statement_has_stored |= inner.changes_data;
	tde_held_cursors_seal();
	tde_access_end(outer);
	if (context == PROCESS_UTILITY_TOPLEVEL)
		tde_opened_statement_ends(NULL);
	tde_drawn_ahead_drop(rows);
}

/* ---- an object is made ---- */

/* Another library comes first: it may refuse.  Of a new relation part is 0, of a new column its number. */
static pg_noinline void
look_at_object(ObjectAccessType access, Oid catalog, Oid object, int part, void *arg)
{
	if (next_object_access)
		next_object_access(access, catalog, object, part, arg);
	if (access == OAT_POST_CREATE && catalog == RelationRelationId && part == 0)
		tde_index_order_created(object);
	tde_container_statistics(access, catalog, object, part);
}

/* Each statement comes here for each function that it calls, of which nothing is wanted. */
static void
object_access(ObjectAccessType access, Oid catalog, Oid object, int part, void *arg)
{
	if (access != OAT_FUNCTION_EXECUTE || next_object_access)
		look_at_object(access, catalog, object, part, arg);
}

/* ---- a function is called ---- */

/* Asked when a function is looked up.  Functions for which it says yes cannot be inlined. */
static bool
needs_fmgr(Oid function)
{
	return tde_language_converts(function) || (next_needs_fmgr && next_needs_fmgr(function));
}

/* At the end of a call, or an error in it, there is nothing to do: the handler that was put in place stays for the call site. */
static void
begin_or_end_call(FmgrHookEventType event, FmgrInfo *function, Datum *arg)
{
	if (next_fmgr)
		next_fmgr(event, function, arg);
	if (event == FHET_START)
		tde_language_begin(function);
}

/* ---- the log ---- */

/*
 * Hints, and what names this server, must be there before the entry is logged.  The filter comes next, and other libraries last: they are called with
 * what may be logged, or not at all.
 */
static void
emit_log(ErrorData *edata)
{
	if (tde_citus)
		tde_citus->name_server(edata);
	tde_explain_error(edata);
	if (tde_log_filter(edata) && next_emit_log)
		next_emit_log(edata);
}

/* ---- statistics for the planner ---- */

/* The frequent lexemes of an encrypted tsvector column are kept apart (type/lexeme_statistics.c).  Another library's answer counts. */
static bool
get_relation_stats(PlannerInfo *root, RangeTblEntry *entry, AttrNumber column, VariableStatData *variable)
{
	return (next_get_relation_stats && next_get_relation_stats(root, entry, column, variable)) ||
		(!tde_table_is_known_plain(entry->relid) && tde_lexemes_of_column(root, entry, column, variable));
}

/* Does the same for an index over such an expression. */
static bool
get_index_stats(PlannerInfo *root, Oid index, AttrNumber column, VariableStatData *variable)
{
	return (next_get_index_stats && next_get_index_stats(root, index, column, variable)) || tde_lexemes_of_index(root, index, column, variable);
}

/* ---- installing them ---- */

/*
 * Installs all hooks, once in each process: in the postmaster when all libraries are loaded, otherwise when this one is.  Processes that it forks
 * have them.
 */
static void
install(void)
{
	static bool installed = false;

	if (installed)
		return;
	installed = true;
	citus_is_loaded = tde_node_form_accepted = tde_distributed_citus_is_loaded();
	TDE_INSTALL(post_parse_analyze_hook, next_post_parse_analyze, post_parse_analyze);
	TDE_INSTALL(planner_hook, next_planner, plan_query);
	TDE_INSTALL(set_rel_pathlist_hook, next_set_rel_pathlist, set_rel_pathlist);
	TDE_INSTALL(get_relation_stats_hook, next_get_relation_stats, get_relation_stats);
	TDE_INSTALL(get_index_stats_hook, next_get_index_stats, get_index_stats);
	tde_execution_install();
	TDE_INSTALL(ProcessUtility_hook, next_process_utility, process_utility);
	TDE_INSTALL(object_access_hook, next_object_access, object_access);
	TDE_INSTALL(emit_log_hook, next_emit_log, emit_log);
	TDE_INSTALL(needs_fmgr_hook, next_needs_fmgr, needs_fmgr);
	TDE_INSTALL(fmgr_hook, next_fmgr, begin_or_end_call);
}

/* ---- the library is loaded: self-test, settings, shared state, hooks ---- */

/*
 * The order matters where one part asks another: whether the library is preloaded comes before the settings, settings before what they configure, and
 * the functions by which a type is known before whatever looks for types.  An error here leaves the library unloaded, or the server not started.
 */
void
_PG_init(void)
{
	const char *failed = NULL;

	/* a cipher that does not give the published answers must not get to see a value */
	if (tde_selftest(&failed) != TDE_OK)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_CRYPTO_FAILURE),
				 errmsg("cryptographic self-test failed"),
				 errdetail("Test: %s.  OpenSSL: %s.", failed ? failed : "set-up", tde_crypto_reason())));
	tde_client_init();
	tde_opened_init();
	tde_settings_init();
	tde_wallet_init();
	tde_counters_init();
	tde_drawn_ahead_init();
	tde_memory_forget_init();
	tde_keys_init();
	tde_unwrapped_init();
	tde_keycache_init();
	tde_keyed_hash_init();
	tde_modifiers_init();
	tde_type_init(tde_in, tde_typmod_in);
	tde_languages_init();
	tde_computed_init(tde_computed);
	tde_choices_init(tde_condition_form);
	tde_indexed_tables_init();
	tde_distributed_init();
	tde_distributed_citus_init();
	if (process_shared_preload_libraries_in_progress)
	{
		tde_required_report(LOG);
		tde_output_plugin_init();
		(void) tde_module_load("ceremony"); /* it has shared memory */
	}
	tde_access_init();
	tde_masks_init();
	tde_probes_init();
	tde_sensitive_init();
	tde_databases_init();
	if (!tde_memory_shmem_add(0, NULL, install))
		install();
}
