/*
 * probe_counts.c - how many values roles that may not decrypt have compared encrypted columns with, by the hour: in shared memory, or else in
 * the session.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/acl.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "server/compat.h"
#include "server/memory.h"
#include "server/probe_counts.h"
#include "server/rights.h"

PG_FUNCTION_INFO_V1(tde_probe_counts);

/* Roles that are counted each for itself; those beyond share one count. */
#define MAX_ROLES	256

/* From so many on, each tenfold number is logged. */
#define FIRST_LOGGED	100

/* What a role has done in a database in one hour. */
typedef struct RoleCount
{
	Oid			database;
	Oid			role;			/* InvalidOid: unused */
	int64		hour;			/* since 2000 */
	uint64		probes;			/* in that hour */
} RoleCount;

/* All counts, in shared memory under a spinlock.  others is of those that there is no place for, whatever database they are in. */
typedef struct ProbeCounts
{
	slock_t		lock;
	RoleCount	roles[MAX_ROLES];
	RoleCount	others;
} ProbeCounts;

int			tde_probe_limit = 0;

static ProbeCounts *counts = NULL;

static int64
this_hour(void)
{
	return GetCurrentTimestamp() / USECS_PER_HOUR;
}

/* Returns the role's count, with the lock held.  One that has done nothing in this hour makes room. */
static RoleCount *
find(Oid role, int64 hour)
{
	RoleCount  *unused = &counts->others;

	for (int i = 0; i < MAX_ROLES; i++)
	{
		RoleCount  *count = &counts->roles[i];

		if (count->role == role && count->database == MyDatabaseId)
			return count;
		if (count->role == InvalidOid || count->hour != hour)
			unused = count;
	}
	if (unused != &counts->others)
		*unused = (RoleCount) {MyDatabaseId, role, hour, 0};
	return unused;
}

/* Counts, if that is within the limit, and returns whether it is.  *before: what was counted in this hour. */
static bool
add(Oid role, uint64 probes, uint64 *before)
{
	int64		hour = this_hour();
	RoleCount  *count;
	bool		within;

	SpinLockAcquire(&counts->lock);
	count = find(role, hour);
	if (count->hour != hour)
	{
		count->hour = hour;
		count->probes = 0;
	}
	*before = count->probes;
	within = tde_probe_limit == 0 || (probes <= (uint64) tde_probe_limit && *before + probes <= (uint64) tde_probe_limit);
	if (within)
		count->probes += probes;
	SpinLockRelease(&counts->lock);
	return within;
}

/* Logs when a tenfold number is reached, so that a loop of guesses gives few lines. */
static void
log_many(const char *role, uint64 before, uint64 after)
{
	uint64		mark = 0;

	for (uint64 next = FIRST_LOGGED; next <= after && next <= PG_UINT64_MAX / 10; next *= 10)
		mark = next;
	if (mark > before)
		ereport(LOG_SERVER_ONLY,
				(errmsg("role \"%s\", which may not decrypt, has compared encrypted columns with " UINT64_FORMAT " values in this hour", role, after)));
}

static void
begin_here(void)
{
	static ProbeCounts of_session;

	SpinLockInit(&of_session.lock);
	counts = &of_session;
}

void
tde_probes_add(uint64 probes)
{
	Oid			role = GetUserId();
	const char *name = tde_rights_role_name(role);
	uint64		before;

	if (counts == NULL)
		begin_here();
	if (!add(role, probes, &before))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many comparisons of encrypted columns by role \"%s\", which may not decrypt", name),
				 errdetail("It has compared with " UINT64_FORMAT " values in this hour, and this statement with " UINT64_FORMAT " more.  %s is %d.", before,
						   probes, "tde_column.probe_limit", tde_probe_limit),
				 errhint("Compare with fewer values, or wait until the hour ends.")));
	log_many(name, before, before + probes);
}

/* tde_probe_counts(OUT role oid, OUT hour timestamptz, OUT probes int8) - of this database. */
Datum
tde_probe_counts(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; counts && i < MAX_ROLES; i++)
	{
		RoleCount	count;
		Datum		values[3];
		bool		nulls[3] = {false};

		CHECK_FOR_INTERRUPTS();
		SpinLockAcquire(&counts->lock);
		count = counts->roles[i];
		SpinLockRelease(&counts->lock);
		if (count.role == InvalidOid || count.database != MyDatabaseId)
			continue;
		values[0] = ObjectIdGetDatum(count.role);
		values[1] = TimestampTzGetDatum(count.hour * USECS_PER_HOUR);
		values[2] = Int64GetDatum((int64) count.probes);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

static void
startup(void)
{
	bool		found;

	counts = ShmemInitStruct("tde_column probes", sizeof(ProbeCounts), &found);
	if (!found)
	{
		memset(counts, 0, sizeof(ProbeCounts));
		SpinLockInit(&counts->lock);
	}
}

void
tde_probes_init(void)
{
	(void) tde_memory_shmem_add(sizeof(ProbeCounts), NULL, startup);
}
