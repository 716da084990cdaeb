/*
 * compat.h - every difference between PostgreSQL 15 to 19 that this extension meets.
 */
#ifndef TDE_SERVER_COMPAT_H
#define TDE_SERVER_COMPAT_H

#include "fmgr.h"
#include "nodes/nodes.h"

/* What tells our errors from others' in server/error.c.  postgres.h defines it, so it is included first. */
#undef TEXTDOMAIN
#define TEXTDOMAIN "tde_column"

#if PG_VERSION_NUM < 150000
#error tde_column needs PostgreSQL 15 or later
#endif

/* Sorts keep a number in each half of a Datum, and nothing is tested on 32 bits. */
#if SIZEOF_VOID_P < 8
#error tde_column needs a 64-bit processor
#endif

/* Of which the names of packages are made. */
#define TDE_MAJOR_VERSION PG_MAJORVERSION

/* 16 moved VARDATA_ANY and its like out of postgres.h (d952373a987b) and gave input functions soft errors (d9f7f5d32f20). */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#include "nodes/miscnodes.h"
#define TDE_INPUT_CALL(flinfo, str, ioparam, typmod, context, result) \
	InputFunctionCallSafe(flinfo, str, ioparam, typmod, context, result)
#else
#define TDE_INPUT_CALL(flinfo, str, ioparam, typmod, context, result) \
	((void) (context), *(result) = InputFunctionCall(flinfo, str, ioparam, typmod), true)
#endif

/* 16 has an allocator of its own for what hangs on settings (407b50f2d421). */
#if PG_VERSION_NUM >= 160000
#define TDE_GUC_MALLOC(size) guc_malloc(LOG, size)
#else
#define TDE_GUC_MALLOC(size) malloc(size)
#endif

/* 18 has generated columns that are not stored (83ea6c54025b). */
#if PG_VERSION_NUM >= 180000
#define TDE_IS_VIRTUAL(constraint) (((Constraint *) (constraint))->generated_kind == ATTRIBUTE_GENERATED_VIRTUAL)
#else
#define TDE_IS_VIRTUAL(constraint) false
#endif

/* In 16 workers may each gather a part of an array (16fd03e95654). */
#define TDE_ARRAY_AGG_IS_PARTIAL (PG_VERSION_NUM >= 160000)

/* 16 leaves out the system's own tables (2cbc3c17a5c1). */
#define TDE_REINDEX_DATABASE_HAS_CATALOGS (PG_VERSION_NUM < 160000)

/* 16 has one function for the privileges on all sorts of objects (c727f511bd7b). */
#if PG_VERSION_NUM >= 160000
#define TDE_MAY_EXECUTE(function, user) (object_aclcheck(ProcedureRelationId, function, user, ACL_EXECUTE) == ACLCHECK_OK)
#define TDE_MAY_USE_TYPE(type) (object_aclcheck(TypeRelationId, type, GetUserId(), ACL_USAGE) == ACLCHECK_OK)
#define TDE_MAY_USE_SCHEMA(schema) (object_aclcheck(NamespaceRelationId, schema, GetUserId(), ACL_USAGE) == ACLCHECK_OK)
#else
#define TDE_MAY_EXECUTE(function, user) (pg_proc_aclcheck(function, user, ACL_EXECUTE) == ACLCHECK_OK)
#define TDE_MAY_USE_TYPE(type) (pg_type_aclcheck(type, GetUserId(), ACL_USAGE) == ACLCHECK_OK)
#define TDE_MAY_USE_SCHEMA(schema) (pg_namespace_aclcheck(schema, GetUserId(), ACL_USAGE) == ACLCHECK_OK)
#endif

/* 16 says at each membership whether privileges are inherited (e3ce2de09d81); before, the member does. */
#if PG_VERSION_NUM >= 160000
#define TDE_INHERITS(membership, member_does) ((void) (member_does), (membership)->inherit_option)
#else
#define TDE_INHERITS(membership, member_does) (member_does)
#endif

/* 16 calls a relation's file by another name (b0a55e43299c). */
#if PG_VERSION_NUM >= 160000
#define TDE_HAS_NEW_FILE(rel) ((rel)->rd_newRelfilelocatorSubid != InvalidSubTransactionId)
#else
#define TDE_HAS_NEW_FILE(rel) ((rel)->rd_newRelfilenodeSubid != InvalidSubTransactionId)
#endif

/* 17 asks for no snapshot (f691f5b80a85). */
#if PG_VERSION_NUM >= 170000
#define TDE_BRIN_REVMAP(index, per_summary) brinRevmapInitialize(index, per_summary)
#define TDE_BRIN_TUPLE(revmap, block, buffer, offset, length) \
	brinGetTupleForHeapBlock(revmap, block, buffer, offset, length, BUFFER_LOCK_SHARE)
#else
#define TDE_BRIN_REVMAP(index, per_summary) brinRevmapInitialize(index, per_summary, NULL)
#define TDE_BRIN_TUPLE(revmap, block, buffer, offset, length) \
	brinGetTupleForHeapBlock(revmap, block, buffer, offset, length, BUFFER_LOCK_SHARE, NULL)
#endif

/* 18 has a name of C23's form for it (10a9bd6ea03d). */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

/* 17 keeps the join condition of MERGE apart from those of its source (0294df2f1f84). */
#if PG_VERSION_NUM >= 170000
#define TDE_MERGE_CONDITION(query) ((query)->mergeJoinCondition)
#else
#define TDE_MERGE_CONDITION(query) ((query)->jointree->quals)
#endif

/* 16 knows how a table is partitioned from its parser on (e5b8a4c098ad). */
#if PG_VERSION_NUM >= 160000
#define TDE_PARTITION_METHOD(spec) ((spec)->strategy == PARTITION_STRATEGY_HASH ? HASH_AM_OID : BTREE_AM_OID)
#else
#define TDE_PARTITION_METHOD(spec) (pg_strcasecmp((spec)->strategy, "hash") == 0 ? HASH_AM_OID : BTREE_AM_OID)
#endif

/* 16 notes at a column which outer joins may make it NULL (2489d76c4906). */
#if PG_VERSION_NUM >= 160000
#define TDE_NULLING_OF(var) ((var)->varnullingrels)
#define TDE_WITHOUT_NULLING(node, joins) remove_nulling_relids(node, joins, NULL)
#define TDE_WITH_NULLING(node, table, joins) add_nulling_relids(node, bms_make_singleton(table), joins)
#else
#define TDE_NULLING_OF(var) NULL
#define TDE_WITHOUT_NULLING(node, joins) (node)
#define TDE_WITH_NULLING(node, table, joins) (node)
#endif

/* 16 takes tables in place of sets of their numbers. */
#if PG_VERSION_NUM >= 160000
#define TDE_OF_CHILD(root, node, rel) adjust_appendrel_attrs_multilevel(root, node, rel, (rel)->top_parent)
#else
#define TDE_OF_CHILD(root, node, rel) adjust_appendrel_attrs_multilevel(root, node, (rel)->relids, (rel)->top_parent_relids)
#endif

/* In 18 columns that are grouped by go through an entry of their own in the range table (247dea89f761). */
#if PG_VERSION_NUM >= 180000
#define TDE_GROUP_EXPRESSIONS(rte) ((rte)->groupexprs)
#else
#define TDE_GROUP_EXPRESSIONS(rte) NIL
#endif

/* 18 tells what an operator means in terms of no access method (a8025f544854), by numbers that are btree's strategies. */
#if PG_VERSION_NUM >= 180000
#define TDE_OPERATOR_MEANINGS(operator) get_op_index_interpretation(operator)
#define TDE_MEANT_STRATEGY(meaning) ((int) ((OpIndexInterpretation *) (meaning))->cmptype)
#else
#define TDE_OPERATOR_MEANINGS(operator) get_op_btree_interpretation(operator)
#define TDE_MEANT_STRATEGY(meaning) (((OpBtreeInterpretation *) (meaning))->strategy)
#endif

/*
 * 19 looks a foreign key's value up in the index itself (2da86c1ef9b5), and where the operator has two types it casts to the left one, which is the
 * index's, in place of the right one.
 */
#define TDE_FOREIGN_KEYS_CAST_TO_OPERAND (PG_VERSION_NUM < 190000)

/* 18 lets a module tell its name and version (9324c8c58065). */
#if PG_VERSION_NUM >= 180000
#define TDE_LIBRARY_MAGIC(library) PG_MODULE_MAGIC_EXT(.name = library, .version = TDE_VERSION)
#else
#define TDE_LIBRARY_MAGIC(library) PG_MODULE_MAGIC
#endif

/* 18 removed a parameter (3eea7a0c97e9). */
#if PG_VERSION_NUM >= 180000
#define TDE_EXECUTOR_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count
#define TDE_EXECUTOR_RUN_ARGUMENTS query, direction, count
#else
#define TDE_EXECUTOR_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count, bool once
#define TDE_EXECUTOR_RUN_ARGUMENTS query, direction, count, once
#endif

/* In 19 the planner is told what EXPLAIN asks for (4c1a27e53a50), and hooks may not change what statements are told apart by. */
#if PG_VERSION_NUM >= 190000
#include "commands/explain_state.h"
#define TDE_PLANNER_PARAMETERS Query *query, const char *source, int cursor_options, ParamListInfo params, ExplainState *explain
#define TDE_PLANNER_ARGUMENTS query, source, cursor_options, params, explain
#define TDE_ANALYZE_PARAMETERS ParseState *pstate, Query *query, const JumbleState *jumble
#else
#define TDE_PLANNER_PARAMETERS Query *query, const char *source, int cursor_options, ParamListInfo params
#define TDE_PLANNER_ARGUMENTS query, source, cursor_options, params
#define TDE_ANALYZE_PARAMETERS ParseState *pstate, Query *query, JumbleState *jumble
#endif

/* 19 says why no function or operator was found.  expand: with defaults, and arguments that are not in an array, for VARIADIC. */
#if PG_VERSION_NUM >= 190000
#define TDE_FUNC_GET_DETAIL(name, names, count, types, expand, found, result, is_set, variadic, variadic_type, declared) \
	func_get_detail(name, NIL, names, count, types, expand, expand, false, &(int) {0}, found, result, is_set, variadic, variadic_type, declared, NULL)
#define TDE_OPERATOR_CANDIDATES(name, kind) OpernameGetCandidates(name, kind, false, &(int) {0})
#else
#define TDE_FUNC_GET_DETAIL(name, names, count, types, expand, found, result, is_set, variadic, variadic_type, declared) \
	func_get_detail(name, NIL, names, count, types, expand, expand, false, found, result, is_set, variadic, variadic_type, declared, NULL)
#define TDE_OPERATOR_CANDIDATES(name, kind) OpernameGetCandidates(name, kind, false)
#endif

/* Up to 18 the table of locks grows into shared memory that nobody has taken. */
#define TDE_LOCK_TABLE_GROWS (PG_VERSION_NUM < 190000)

/* 19 gives tables' access methods options for updates and scans. */
#if PG_VERSION_NUM >= 190000
#define TDE_TUPLE_UPDATE(rel, tid, slot, failure, mode, indexes) \
	table_tuple_update(rel, tid, slot, GetCurrentCommandId(true), 0, GetActiveSnapshot(), InvalidSnapshot, true, failure, mode, indexes)
#define TDE_BEGINSCAN_TIDRANGE(rel, first, last) table_beginscan_tidrange(rel, GetActiveSnapshot(), first, last, 0)
#define TDE_INDEX_FETCH_BEGIN(rel) table_index_fetch_begin(rel, 0)
#define TDE_INDEX_BEGINSCAN(rel, index, snapshot, keys) index_beginscan(rel, index, snapshot, NULL, keys, 0, 0)
#else
#define TDE_TUPLE_UPDATE(rel, tid, slot, failure, mode, indexes) \
	table_tuple_update(rel, tid, slot, GetCurrentCommandId(true), GetActiveSnapshot(), InvalidSnapshot, true, failure, mode, indexes)
#define TDE_BEGINSCAN_TIDRANGE(rel, first, last) table_beginscan_tidrange(rel, GetActiveSnapshot(), first, last)
#define TDE_INDEX_FETCH_BEGIN(rel) table_index_fetch_begin(rel)
#if PG_VERSION_NUM >= 180000
#define TDE_INDEX_BEGINSCAN(rel, index, snapshot, keys) index_beginscan(rel, index, snapshot, NULL, keys, 0)
#else
#define TDE_INDEX_BEGINSCAN(rel, index, snapshot, keys) index_beginscan(rel, index, snapshot, keys, 0)
#endif
#endif

/* 19 may note at once that all of a page is visible, if the caller lets it: this one is about to write. */
#if PG_VERSION_NUM >= 190000
#define TDE_PRUNE(rel, buffer) \
	do { \
		Buffer		visibility = InvalidBuffer; \
\
		heap_page_prune_opt(rel, buffer, &visibility, false); \
		if (BufferIsValid(visibility)) \
			ReleaseBuffer(visibility); \
	} while (0)
#else
#define TDE_PRUNE(rel, buffer) heap_page_prune_opt(rel, buffer)
#endif

/* 19 calls CLUSTER and VACUUM FULL by the name of the command that replaces them. */
#if PG_VERSION_NUM >= 190000
#define PROGRESS_COMMAND_CLUSTER PROGRESS_COMMAND_REPACK
#endif

/* 19 has REPACK (CONCURRENTLY), which makes a table's indexes again for a copy of the table, and exchanges their files. */
#if PG_VERSION_NUM >= 190000
#define TDE_IS_REPACK(statement) ((statement) && IsA(statement, RepackStmt))
#else
#define TDE_IS_REPACK(statement) false
#endif

/*
 * 18 keeps what it needs of a column most often in a second place, too (5983a4cffc31), and a copy of a descriptor knows no places of columns in
 * rows yet; before, it has those of the original, which are wrong from the changed column on.  19 looks these places up once, when it is told to
 * (c456e3911380).
 */
#if PG_VERSION_NUM >= 190000
#define TDE_COLUMN_CHANGED(descriptor, index) (populate_compact_attribute(descriptor, index), TupleDescFinalize(descriptor))
#elif PG_VERSION_NUM >= 180000
#define TDE_COLUMN_CHANGED(descriptor, index) populate_compact_attribute(descriptor, index)
#else
#define TDE_COLUMN_CHANGED(descriptor, index) \
	do { \
		for (int column_ = (index); column_ < (descriptor)->natts; column_++) \
			TupleDescAttr(descriptor, column_)->attcacheoff = -1; \
	} while (0)
#endif

/* 16 asks by class and object (afbfc02983f8). */
#if PG_VERSION_NUM >= 160000
#define TDE_OWNS_RELATION(relid) object_ownercheck(RelationRelationId, relid, GetUserId())
#define TDE_OWNS_DATABASE() object_ownercheck(DatabaseRelationId, MyDatabaseId, GetUserId())
#define TDE_MAY_CREATE_SCHEMAS() (object_aclcheck(DatabaseRelationId, MyDatabaseId, GetUserId(), ACL_CREATE) == ACLCHECK_OK)
#define TDE_MAY_CREATE_IN_DATABASE() \
	(object_aclcheck(DatabaseRelationId, MyDatabaseId, GetUserId(), ACL_CREATE | ACL_CREATE_TEMP) == ACLCHECK_OK)
#else
#define TDE_OWNS_RELATION(relid) pg_class_ownercheck(relid, GetUserId())
#define TDE_OWNS_DATABASE() pg_database_ownercheck(MyDatabaseId, GetUserId())
#define TDE_MAY_CREATE_SCHEMAS() (pg_database_aclcheck(MyDatabaseId, GetUserId(), ACL_CREATE) == ACLCHECK_OK)
#define TDE_MAY_CREATE_IN_DATABASE() (pg_database_aclcheck(MyDatabaseId, GetUserId(), ACL_CREATE | ACL_CREATE_TEMP) == ACLCHECK_OK)
#endif

/* 17 has a privilege for VACUUM and REINDEX (ecb0fd33720f). */
#if PG_VERSION_NUM >= 170000
#define TDE_MAINTAINS_RELATION(relid) (pg_class_aclcheck(relid, GetUserId(), ACL_MAINTAIN) == ACLCHECK_OK)
#else
#define TDE_MAINTAINS_RELATION(relid) TDE_OWNS_RELATION(relid)
#endif

/* 16 has memberships that inherit the role's privileges and cannot SET ROLE (3d14e171e9e2). */
#if PG_VERSION_NUM >= 160000
#define TDE_MAY_BECOME(member, role) (has_privs_of_role(member, role) && member_can_set_role(member, role))
#else
#define TDE_MAY_BECOME(member, role) has_privs_of_role(member, role)
#endif

/* 16 keeps permissions apart from the range table (a61b1f74823c); 18 asks what is not pruned (cbc127917e04). */
#if PG_VERSION_NUM >= 160000
#define TDE_UPDATED_COLUMNS(rte, permissions) (addRTEPermissionInfo(permissions, rte)->updatedCols)
#define TDE_MAY_SELECT(rte, columns, permissions) \
	(addRTEPermissionInfo(&(permissions), rte)->requiredPerms = ACL_SELECT, \
	 getRTEPermissionInfo(permissions, rte)->selectedCols = (columns), \
	 ExecCheckPermissions(list_make1(rte), permissions, false))
#else
#define TDE_MAY_SELECT(rte, columns, permissions) \
	((rte)->requiredPerms = ACL_SELECT, (rte)->selectedCols = (columns), ExecCheckRTPerms(list_make1(rte), false))
#define TDE_UPDATED_COLUMNS(rte, permissions) ((rte)->updatedCols)
#endif
#if PG_VERSION_NUM >= 160000
#define TDE_SELECTED_COLUMNS(query, rte) \
	((rte)->perminfoindex == 0 ? NULL : getRTEPermissionInfo((query)->rteperminfos, rte)->selectedCols)
#define TDE_MOVE_PERMISSIONS(query, rte, inner, scan) \
	((inner)->rteperminfos = list_make1(copyObject(getRTEPermissionInfo((query)->rteperminfos, rte))), (scan)->perminfoindex = 1)
#else
#define TDE_SELECTED_COLUMNS(query, rte) ((rte)->selectedCols)
#define TDE_MOVE_PERMISSIONS(query, rte, inner, scan) ((void) 0)
#endif
#if PG_VERSION_NUM >= 180000
#define TDE_INIT_RANGE_TABLE(estate, rte, permissions) \
	ExecInitRangeTable(estate, list_make1(rte), permissions, bms_make_singleton(1))
#elif PG_VERSION_NUM >= 160000
#define TDE_INIT_RANGE_TABLE(estate, rte, permissions) ExecInitRangeTable(estate, list_make1(rte), permissions)
#else
#define TDE_INIT_RANGE_TABLE(estate, rte, permissions) ExecInitRangeTable(estate, list_make1(rte))
#endif

/*
 * The view that a subquery has come from, or InvalidOid: 16 leaves it in the entry (47bb9db75996); before, the view's query begins with
 * the view's own entry.
 */
#if PG_VERSION_NUM >= 160000
#define TDE_VIEW_OF(rte) ((rte)->relid)
#else
#define TDE_FIRST_ENTRY(query) linitial_node(RangeTblEntry, (query)->rtable)
#define TDE_VIEW_OF(rte) \
	((rte)->subquery->rtable != NIL && TDE_FIRST_ENTRY((rte)->subquery)->relkind == RELKIND_VIEW ? \
	 TDE_FIRST_ENTRY((rte)->subquery)->relid : InvalidOid)
#endif

/* 18 has generated columns that are not stored, too; they take no encrypted types. */
#if PG_VERSION_NUM >= 180000
#define TDE_IS_STORED(constraint) ((constraint)->generated_kind == ATTRIBUTE_GENERATED_STORED)
#else
#define TDE_IS_STORED(constraint) true
#endif

/* 18 calls post_parse_analyze_hook for the query of a cursor, too, when it is opened (6b652e6ce85a). */
#define TDE_CURSOR_ANALYZED_LATER (PG_VERSION_NUM >= 180000)

/* 16 lets the caller choose whether a sorted value is copied. */
#if PG_VERSION_NUM >= 160000
#define TDE_SORT_NEXT(sort, value, isnull) tuplesort_getdatum(sort, true, true, value, isnull, NULL)
#else
#define TDE_SORT_NEXT(sort, value, isnull) tuplesort_getdatum(sort, true, value, isnull, NULL)
#endif

/* 16 gave range_serialize() soft errors. */
#if PG_VERSION_NUM >= 160000
#define TDE_RANGE_SERIALIZE(cache, lower, upper, empty) range_serialize(cache, lower, upper, empty, NULL)
#else
#define TDE_RANGE_SERIALIZE(cache, lower, upper, empty) range_serialize(cache, lower, upper, empty)
#endif

/* 16 tells updates that only concern summarizing indexes (BRIN) from others (19d8e2308bc5). */
#if PG_VERSION_NUM >= 190000
#define TdeIndexUpdate TU_UpdateIndexes
#define TDE_UPDATE_INDEXES(relinfo, slot, estate, what) \
	ExecInsertIndexTuples(relinfo, estate, EIIT_IS_UPDATE | ((what) == TU_Summarizing ? EIIT_ONLY_SUMMARIZING : 0), slot, NIL, NULL)
#elif PG_VERSION_NUM >= 160000
#define TdeIndexUpdate TU_UpdateIndexes
#define TDE_UPDATE_INDEXES(relinfo, slot, estate, what) \
	ExecInsertIndexTuples(relinfo, slot, estate, true, false, NULL, NIL, (what) == TU_Summarizing)
#else
#define TdeIndexUpdate bool
#define TDE_UPDATE_INDEXES(relinfo, slot, estate, what) \
	((void) (what), ExecInsertIndexTuples(relinfo, slot, estate, true, false, NULL, NIL))
#endif

/* In 17 maintenance commands run what belongs to a table under a safe search_path (2af07e2f749a). */
#if PG_VERSION_NUM >= 170000
#define TDE_RESTRICT_SEARCH_PATH() RestrictSearchPath()
#else
#define TDE_RESTRICT_SEARCH_PATH() ((void) 0)
#endif

/* 16 has another name for it. */
#if PG_VERSION_NUM >= 160000
#define TDE_BACKEND_STATUS(i) pgstat_get_local_beentry_by_index(i)
#else
#define TDE_BACKEND_STATUS(i) pgstat_fetch_stat_local_beentry(i)
#endif

/* 17 numbers processes from 0 on, and has another name for none (024c52111757). */
#if PG_VERSION_NUM < 170000
#define INVALID_PROC_NUMBER InvalidBackendId
#endif

/* In 17 a process's number is its place in the array of all, and not kept in PGPROC any more. */
#if PG_VERSION_NUM >= 170000
#define TDE_PROC_NUMBER(proc) GetNumberFromPGProc(proc)
#else
#define TDE_PROC_NUMBER(proc) ((proc)->pgprocno)
#endif

/* 17 keeps the parts of a virtual transaction's id together. */
#if PG_VERSION_NUM >= 170000
#define TDE_LOCAL_TRANSACTION (MyProc->vxid.lxid)
#else
#define TDE_LOCAL_TRANSACTION (MyProc->lxid)
#endif

/* 17 tells event triggers of it, if it is given the command. */
#if PG_VERSION_NUM >= 170000
#define TDE_REINDEX_INDEX(index, persistence, params) reindex_index(NULL, index, false, persistence, params)
#else
#define TDE_REINDEX_INDEX(index, persistence, params) reindex_index(index, false, persistence, params)
#endif

/* 17 has no buffer around a row of a change any more (08e6344fd642). */
#if PG_VERSION_NUM >= 170000
#define TDE_CHANGED_ROW_TYPE HeapTupleData
#define TDE_CHANGED_ROW(row) (row)
#else
#define TDE_CHANGED_ROW_TYPE ReorderBufferTupleBuf
#define TDE_CHANGED_ROW(row) (&(row)->tuple)
#endif

/* 16 made pq_sendbytes(), which test/fuzz/backend.c has of its own, take a pointer to anything. */
#if PG_VERSION_NUM >= 160000
#define TDE_SENT_BYTES const void *
#else
#define TDE_SENT_BYTES const char *
#endif

/* pg_database.datconnlimit of a database that is not wholly there: 15.4 and later have a name for it (c66a7d75e652). */
#define TDE_INVALID_DATABASE (-2)

#endif							/* TDE_SERVER_COMPAT_H */
