/*
 * counters.c - the numbers that views show of the running server: how many values each key has encrypted, how far a long command is.
 *
 * Each process counts for itself (keys/limits.h) and adds that to shared memory at the end of its transactions.  Without
 * shared_preload_libraries there is none.
 *
 * How far a command is stands in the backend's status entry, as for VACUUM, under a number of command that PostgreSQL does not
 * know and so shows nowhere else.  That needs no shared memory of our own, and an error clears it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "commands/dbcommands.h"
#include "commands/progress.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "server/compat.h"
#include "server/counters.h"
#include "server/memory.h"

PG_FUNCTION_INFO_V1(tde_event_counters);
PG_FUNCTION_INFO_V1(tde_progress_status);

/* ---- what keys and backends have done ---- */

/* Keys that are counted; what comes later than these is not. */
#define MAX_COUNTED 4096

/* A key's count.  Which key it is of never changes, so it is read without a lock once used covers it. */
struct TdeSharedCount
{
	Oid			database;
	uint32		key_id;
	pg_atomic_uint64 values;
};

TdeStats	tde_stats;

/* The part of shared memory.  Only adding a key takes the lock.  used is raised behind a write barrier, when the new entry is complete. */
typedef struct SharedCounts
{
	slock_t		lock;			/* for adding one */
	pg_atomic_uint32 used;
	pg_atomic_uint64 events[TDE_EVENTS];
	TdeSharedCount counts[MAX_COUNTED];
} SharedCounts;

static SharedCounts *shared_counts = NULL;

/* Looks through the keys, at most MAX_COUNTED.  A pointer is good as long as the server runs. */
static TdeSharedCount *
find_shared(uint32 key_id)
{
	uint32		used = pg_atomic_read_u32(&shared_counts->used);

	pg_read_barrier();
	for (uint32 i = 0; i < used; i++)
	{
		TdeSharedCount *count = &shared_counts->counts[i];

		if (count->key_id == key_id && count->database == MyDatabaseId)
			return count;
	}
	return NULL;
}

/* The same, with a place for the key if it has none yet; NULL if there is no room. */
static TdeSharedCount *
find_or_add_shared(uint32 key_id)
{
	TdeSharedCount *count = find_shared(key_id);

	if (count != NULL)
		return count;
	SpinLockAcquire(&shared_counts->lock);
	count = find_shared(key_id);
	if (count == NULL && pg_atomic_read_u32(&shared_counts->used) < MAX_COUNTED)
	{
		count = &shared_counts->counts[pg_atomic_read_u32(&shared_counts->used)];
		count->database = MyDatabaseId;
		count->key_id = key_id;
		pg_write_barrier();
		pg_atomic_fetch_add_u32(&shared_counts->used, 1);
	}
	SpinLockRelease(&shared_counts->lock);
	return count;
}

bool
tde_counters_add(uint32 key_id, TdeSharedCount **place, uint64 values)
{
	if (shared_counts == NULL)
		return false;
	if (*place == NULL)
		*place = find_or_add_shared(key_id);
	if (*place)
		pg_atomic_fetch_add_u64(&(*place)->values, values);
	return true;
}

uint64
tde_counters_read(uint32 key_id)
{
	TdeSharedCount *shared = shared_counts ? find_shared(key_id) : NULL;

	return shared ? pg_atomic_read_u64(&shared->values) : 0;
}

uint64
tde_counters_read_all(void)
{
	uint64		sum = 0;

	if (shared_counts != NULL)
	{
		uint32		used = pg_atomic_read_u32(&shared_counts->used);

		pg_read_barrier();
		for (uint32 i = 0; i < used; i++)
			sum += pg_atomic_read_u64(&shared_counts->counts[i].values);
	}
	return sum;
}

static void
startup_counters(void)
{
	bool		found;

	shared_counts = ShmemInitStruct("tde_column counters", sizeof(SharedCounts), &found);
	if (!found)
	{
		memset(shared_counts, 0, sizeof(SharedCounts));
		SpinLockInit(&shared_counts->lock);
		pg_atomic_init_u32(&shared_counts->used, 0);
		for (int i = 0; i < TDE_EVENTS; i++)
			pg_atomic_init_u64(&shared_counts->events[i], 0);
		for (int i = 0; i < MAX_COUNTED; i++)
			pg_atomic_init_u64(&shared_counts->counts[i].values, 0);
	}
}

/* ---- what all processes have done ---- */

void
tde_counters_event(TdeEvent event, uint64 times)
{
	if (shared_counts != NULL)
		pg_atomic_fetch_add_u64(&shared_counts->events[event], times);
}

void
tde_counters_transaction_ends(void)
{
	static uint64 told = 0;

	if (tde_stats.decryptions != told)
		tde_counters_event(TDE_EVENT_DECRYPTED, tde_stats.decryptions - told);
	told = tde_stats.decryptions;
}

/*
 * tde_event_counters(OUT decryptions, not_authentic, wallet_opened, wallet_refused int8) - of all processes since the server started; NULLs without
 * shared memory.
 */
Datum
tde_event_counters(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Datum		values[TDE_EVENTS];
	bool		nulls[TDE_EVENTS];

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	for (int i = 0; i < TDE_EVENTS; i++)
	{
		nulls[i] = shared_counts == NULL;
		values[i] = Int64GetDatum(nulls[i] ? 0 : (int64) pg_atomic_read_u64(&shared_counts->events[i]));
	}
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

void
tde_counters_init(void)
{
	(void) tde_memory_shmem_add(sizeof(SharedCounts), NULL, startup_counters);
}

/* ---- how far a long command is: for the view tde.progress, and as notices ---- */

#define COMMAND			((ProgressCommandType) 0x544445)

#define NOTICE_EVERY_MS	5000

enum
{
	PARAM_STARTED,
	PARAM_PHASE,
	PARAM_BLOCKS_TOTAL,
	PARAM_BLOCKS_DONE,
	PARAM_ROWS_SEEN,
	PARAM_ROWS_CHANGED,
	PARAM_COUNT
};

static const char *const phase_words[] = {
	"re-encrypting", "waiting for writers", "verifying", "copying", "erasing", "looking for keys", "verifying values",
	"looking at samples", "rebuilding indexes"
};

/* Writes all numbers into the backend's status entry, which others read without a lock of ours. */
static void
publish(const TdeProgress *progress)
{
	static const int params[PARAM_COUNT] = {
		PARAM_STARTED, PARAM_PHASE, PARAM_BLOCKS_TOTAL, PARAM_BLOCKS_DONE, PARAM_ROWS_SEEN, PARAM_ROWS_CHANGED
	};
	const int64 values[PARAM_COUNT] = {
		progress->started, progress->phase, progress->blocks_total, progress->blocks_done, progress->rows_seen,
		progress->rows_changed
	};

	pgstat_progress_update_multi_param(PARAM_COUNT, params, values);
}

void
tde_counters_progress_start(TdeProgress *progress, Oid relid, TdePhase phase)
{
	char	   *table = OidIsValid(relid) ? get_rel_name(relid) : NULL;

	memset(progress, 0, sizeof(*progress));
	progress->relid = relid;
	progress->phase = phase;
	if (table)
		namestrcpy(&progress->table, table);
	progress->started = progress->noticed = GetCurrentTimestamp();
	pgstat_progress_start_command(COMMAND, relid);
	publish(progress);
}

void
tde_counters_progress_phase(TdeProgress *progress, TdePhase phase, int64 blocks_total)
{
	progress->phase = phase;
	progress->blocks_total = blocks_total;
	progress->blocks_done = 0;
	publish(progress);
}

/* Clients that run a command for hours see by it that it goes on, and how long it may take. */
static void
send_notice(TdeProgress *progress, TimestampTz now)
{
	double		seconds = (now - progress->started) / (double) USECS_PER_SEC;
	double		done = progress->blocks_total > 0 ? (double) progress->blocks_done / progress->blocks_total : 1;
	StringInfoData text;

	initStringInfo(&text);
	if (NameStr(progress->table)[0] != '\0')
		appendStringInfo(&text, "table \"%s\": ", NameStr(progress->table));
	appendStringInfo(&text, "%s, %.0f %%", phase_words[progress->phase], done * 100);
	if (progress->rows_seen > 0)
		appendStringInfo(&text, ", %lld rows changed, %.0f rows/s", (long long) progress->rows_changed,
						 progress->rows_changed / seconds);
	/* what comes after another phase is too short for a guess, and began later than the command */
	if (progress->phase != TDE_PHASE_WAIT && progress->phase != TDE_PHASE_VERIFY && done > 0.01)
		appendStringInfo(&text, ", about %.0f s left", seconds * (1 - done) / done);
	ereport(NOTICE, (errmsg_internal("%s", text.data)));
	pfree(text.data);
	progress->noticed = now;
}

void
tde_counters_progress_show(TdeProgress *progress)
{
	TimestampTz now = GetCurrentTimestamp();

	publish(progress);
	if (TimestampDifferenceExceeds(progress->noticed, now, NOTICE_EVERY_MS))
		send_notice(progress, now);
}

void
tde_counters_progress_blocks(TdeProgress *progress, int64 blocks)
{
	progress->blocks_done = Min(progress->blocks_done + blocks, progress->blocks_total);
	tde_counters_progress_show(progress);
}

void
tde_counters_progress_built(TdeProgress *progress, int64 blocks)
{
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, 0);
	tde_counters_progress_blocks(progress, blocks);
}

void
tde_counters_progress_end(void)
{
	pgstat_progress_end_command();
}

/* ---- the view ---- */

/* As pg_stat_activity has it: statements of roles whose privileges the caller has; all of them for pg_read_all_stats. */
static bool
may_see(Oid role)
{
	return has_privs_of_role(GetUserId(), role) || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

/*
 * tde_progress_status(OUT pid, database_id, table_id, phase, blocks_total, blocks_done, rows_seen, rows_changed, started) - the
 * commands that run now, of roles whose privileges the caller has.
 */
Datum
tde_progress_status(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 1; i <= pgstat_fetch_stat_numbackends(); i++)
	{
		LocalPgBackendStatus *local = TDE_BACKEND_STATUS(i);
		PgBackendStatus *backend = local ? &local->backendStatus : NULL;
		Datum		values[9];
		bool		nulls[9] = {0};
		int64	   *params;

		if (backend == NULL || backend->st_progress_command != COMMAND || !may_see(backend->st_userid))
			continue;
		params = backend->st_progress_param;
		values[0] = Int32GetDatum(backend->st_procpid);
		values[1] = ObjectIdGetDatum(backend->st_databaseid);
		values[2] = ObjectIdGetDatum(backend->st_progress_command_target);
		nulls[2] = !OidIsValid(backend->st_progress_command_target);
		values[3] = CStringGetTextDatum(phase_words[Min(params[PARAM_PHASE], TDE_PHASE_INDEXES)]);
		values[4] = Int64GetDatum(params[PARAM_BLOCKS_TOTAL]);
		values[5] = Int64GetDatum(params[PARAM_BLOCKS_DONE] +
								  (params[PARAM_PHASE] == TDE_PHASE_INDEXES ? params[PROGRESS_SCAN_BLOCKS_DONE] : 0));
		values[6] = Int64GetDatum(params[PARAM_ROWS_SEEN]);
		values[7] = Int64GetDatum(params[PARAM_ROWS_CHANGED]);
		values[8] = TimestampTzGetDatum(params[PARAM_STARTED]);
		tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
	}
	return (Datum) 0;
}
