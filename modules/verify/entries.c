/*
 * entries.c - whether an index and its table have the same values.
 *
 * While a btree is read, each entry is compared with the row that it points to, in whatever version that is there: all versions that share an entry
 * have the same values.  Which rows have entries is remembered in a Bloom filter, as contrib/amcheck does (Bloom, Communications of the ACM 13(7),
 * 1970); then the rows of a snapshot that is older than the reading are looked for in it.  Of a hash index, which has no values, each row is looked
 * for as a query would.  Of GIN indexes: gin_entries.c.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "lib/bloomfilter.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "maintenance/owner.h"
#include "server/compat.h"
#include "verify/entries.h"
#include "verify/gin_entries.h"

/* ---- an entry and its row ---- */

/* Returns true if both have the same bytes; most have, and need no key then. */
static bool
same_bytes(Datum a, Datum b)
{
	struct varlena *x = PG_DETOAST_DATUM_PACKED(a);
	struct varlena *y = PG_DETOAST_DATUM_PACKED(b);

	return VARSIZE_ANY_EXHDR(x) == VARSIZE_ANY_EXHDR(y) && memcmp(VARDATA_ANY(x), VARDATA_ANY(y), VARSIZE_ANY_EXHDR(x)) == 0;
}

/* Returns true if both are the same value.  Those of an expression are encrypted anew each time, so that their bytes may differ. */
static bool
is_same(Relation index, int column, Datum a, Datum b)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(index), column);
	TypeCacheEntry *type;

	if (attribute->attlen == -1 && same_bytes(a, b))
		return true;
	type = lookup_type_cache(attribute->atttypid, TYPECACHE_EQ_OPR_FINFO);
	return !OidIsValid(type->eq_opr_finfo.fn_oid) || DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, attribute->attcollation, a, b));
}

/* An entry, and what compare() finds of it. */
typedef struct Comparison
{
	TdeEntries *entries;
	IndexTuple	entry;
	int			different;		/* number of the first column that differs; 0: none */
} Comparison;

/* A TdeAttempt: computes what the row's entry would be, with the owner's rights.  Only encrypted columns are compared. */
static void
compare(void *arg)
{
	Comparison *comparison = arg;
	TdeEntries *entries = comparison->entries;
	Relation	index = entries->index;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	GetPerTupleExprContext(entries->estate)->ecxt_scantuple = entries->slot;
	FormIndexDatum(entries->info, entries->slot, entries->estate, values, nulls);
	for (int i = 0; i < RelationGetDescr(index)->natts && comparison->different == 0; i++)
	{
		bool		isnull;
		Datum		value = index_getattr(comparison->entry, i + 1, RelationGetDescr(index), &isnull);

		if (entries->verification->columns[i] && (isnull != nulls[i] || (!isnull && !is_same(index, i, value, values[i]))))
			comparison->different = i + 1;
	}
}

/* Compares an entry with its row.  Whether the row has one is noted in any case. */
static void
look_at_row(TdeEntries *entries, IndexTuple entry, ItemPointer tid)
{
	TdeVerification *verification = entries->verification;
	Comparison	comparison = {entries, entry};
	bool		again = false;
	ErrorData  *error;

	bloom_add_element(entries->seen, (unsigned char *) tid, sizeof(ItemPointerData));
	/* what VACUUM has not removed yet points to nothing */
	if (!table_index_fetch_tuple(entries->fetch, tid, SnapshotAny, entries->slot, &again, NULL))
		return;
	error = tde_attempt(verification, compare, &comparison);
	ResetPerTupleExprContext(entries->estate);
	if (error)
		tde_verify_problem_caught(verification, tid, 0, error);
	else if (comparison.different > 0)
		tde_verify_problem(verification, tid, comparison.different, ERRCODE_INDEX_CORRUPTED, "entry has another value than its row");
}

/* TdeScan.entry: a posting list has one value for many rows. */
static void
look_at_entry(TdeScan *scan, IndexTuple entry)
{
	TdeEntries *entries = ((TdeVerification *) scan)->entries;

	if (!BTreeTupleIsPosting(entry))
		look_at_row(entries, entry, &entry->t_tid);
	for (int i = 0; BTreeTupleIsPosting(entry) && i < BTreeTupleGetNPosting(entry); i++)
	{
		CHECK_FOR_INTERRUPTS();
		look_at_row(entries, entry, BTreeTupleGetPostingN(entry, i));
	}
}

/* ---- a row and its entry ---- */

/* Returns true if a search for the value finds the row, as a query's would. */
static bool
is_found(TdeEntries *entries, ItemPointer row, Datum value)
{
	ScanKeyData key;
	ItemPointer found;

	ScanKeyEntryInitialize(&key, 0, 1, HTEqualStrategyNumber, InvalidOid, entries->index->rd_indcollation[0], entries->equal, value);
	index_rescan(entries->scan, &key, 1, NULL, 0);
	while ((found = index_getnext_tid(entries->scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (ItemPointerEquals(found, row))
			return true;
	}
	return false;
}

/* An IndexBuildCallback: of the row's versions the one that entries point to. */
static void
look_for_entry(Relation index, ItemPointer row, Datum *values, bool *isnull, bool is_alive, void *arg)
{
	TdeEntries *entries = arg;

	/* hash indexes have no NULLs */
	if (entries->seen ? !bloom_lacks_element(entries->seen, (unsigned char *) row, sizeof(ItemPointerData))
		: isnull[0] || is_found(entries, row, values[0]))
		return;
	tde_verify_problem(entries->verification, row, 0, ERRCODE_INDEX_CORRUPTED, "row has no entry in the index");
}

/* Has PostgreSQL go through the rows of the snapshot as if it built the index, and looks each entry up instead. */
static void
look_for_entries(TdeEntries *entries)
{
	TableScanDesc rows = table_beginscan_strat(entries->table, entries->snapshot, 0, NULL, true, true);

	if (entries->equal)
		entries->scan = TDE_INDEX_BEGINSCAN(entries->table, entries->index, entries->snapshot, 1);
	(void) table_index_build_scan(entries->table, entries->index, entries->info, true, false, look_for_entry, entries, rows);
	if (entries->equal)
		index_endscan(entries->scan);
}

/* Returns true if a query with this snapshot could use the index (as get_relation_info() has it).  HOT chains may be broken otherwise. */
static bool
is_usable(Relation index)
{
	return !index->rd_index->indcheckxmin ||
		TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data), TransactionXmin);
}

/* ---- all of them ---- */

/* Returns what tells how entries are made, without what would have PostgreSQL complain about rows. */
static IndexInfo *
info_for_reading(Relation index)
{
	IndexInfo  *info = BuildIndexInfo(index);

	/* nothing is built, and rows that others write are no surprise */
	info->ii_Concurrent = true;
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	return info;
}

/* The filter has room for the rows that the table may have; more make it miss some, and never say too much. */
static bloom_filter *
filter_for(Relation table)
{
	int64		rows = Max((int64) table->rd_rel->reltuples, (int64) RelationGetNumberOfBlocks(table) * 50);

	return bloom_create(Max(rows, 1), work_mem, pg_prng_uint64(&pg_global_prng_state));
}

void
tde_entries_begin(TdeVerification *verification)
{
	Relation	table = verification->table;
	Relation	index = verification->rel;
	TdeEntries *entries;
	TdeCaller	caller;

	verification->entries = NULL;
	if (index->rd_rel->relam != BTREE_AM_OID && index->rd_rel->relam != HASH_AM_OID && index->rd_rel->relam != GIN_AM_OID)
		return;
	entries = palloc0(sizeof(TdeEntries));
	tde_owner_discreet_begin(&entries->discretion, RelationGetRelid(table));
	/* the expressions are simplified when they are read, and then called for each row */
	tde_owner_begin(&caller, table);
	entries->verification = verification;
	entries->table = table;
	entries->index = index;
	entries->caller = caller;
	entries->info = info_for_reading(index);
	entries->estate = CreateExecutorState();
	entries->slot = table_slot_create(table, NULL);
	entries->snapshot = RegisterSnapshot(GetTransactionSnapshot());
	if (index->rd_rel->relam != HASH_AM_OID)
		entries->fetch = TDE_INDEX_FETCH_BEGIN(table);
	if (index->rd_rel->relam == BTREE_AM_OID)
	{
		entries->seen = filter_for(table);
		verification->scan.entry = look_at_entry;
	}
	else if (index->rd_rel->relam == HASH_AM_OID)
		entries->equal = get_opcode(get_opfamily_member(index->rd_opfamily[0], index->rd_opcintype[0], index->rd_opcintype[0], HTEqualStrategyNumber));
	verification->entries = entries;
}

void
tde_entries_end(TdeVerification *verification)
{
	TdeEntries *entries = verification->entries;

	if (entries == NULL)
		return;
	if (is_usable(entries->index))
	{
		if (entries->index->rd_rel->relam == GIN_AM_OID)
			tde_gin_entries_verify(entries);
		else
			look_for_entries(entries);
	}
	if (entries->fetch)
		table_index_fetch_end(entries->fetch);
	if (entries->seen)
		bloom_free(entries->seen);
	UnregisterSnapshot(entries->snapshot);
	ExecDropSingleTupleTableSlot(entries->slot);
	FreeExecutorState(entries->estate);
	tde_owner_end(&entries->caller);
	tde_owner_discreet_end(&entries->discretion);
}
