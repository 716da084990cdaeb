/*
 * purge_worker.c - counting the data keys of any database of the instance under a master key.
 *
 * A process reads one database, so a background worker is started for each.  The other way would be that each database says by
 * itself, where all can read it, that no row of it is wrapped by the master key, and that a purge is refused until all have
 * said so.  It would be no safer, and worse to use: template0 and databases without the extension can say nothing, nor can one
 * that was made from a template a moment ago, and they look like one that was forgotten; what was said would have to reach the
 * disk after the rows it is about, and be taken back when a rotation rolls back or an import brings such a row.  What is purged
 * in error is lost for ever, so somebody looks.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_extension.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "keys/table_rows.h"
#include "maintenance/purge.h"
#include "server/compat.h"
#include "server/memory.h"

/* What a worker is asked. */
typedef struct Question
{
	uint32		number;
	Oid			database;
	uint8		master[TDE_MASTER_ID_SIZE];
	bool		any;			/* whatever the master key */
} Question;

StaticAssertDecl(sizeof(Question) <= BGW_EXTRALEN, "must fit into what a worker is given");

/* What it answers.  One purge at a time asks; a worker of one that was canceled finds another number here. */
typedef struct Answer
{
	slock_t		lock;
	uint32		number;
	bool		given;
	int			count;
} Answer;

static Answer *answer = NULL;

/* ---- the worker ---- */

/*
 * Wait until no transaction creates or drops the extension here.  Keys that CREATE EXTENSION makes are in a table that
 * nobody else can see, or lock, before it commits, so look for its row in pg_extension as a unique index does.
 */
static void
await_extension(void)
{
	TransactionId other;

	do
	{
		Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
		SnapshotData dirty;
		ScanKeyData key;
		SysScanDesc scan;

		CHECK_FOR_INTERRUPTS();
		other = InvalidTransactionId;
		InitDirtySnapshot(dirty);
		ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum("tde_column"));
		scan = systable_beginscan(rel, ExtensionNameIndexId, true, &dirty, 1, &key);
		while (!TransactionIdIsValid(other) && HeapTupleIsValid(systable_getnext(scan)))
		{
			CHECK_FOR_INTERRUPTS();
			other = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		}
		systable_endscan(scan);
		table_close(rel, AccessShareLock);
		if (TransactionIdIsValid(other))
			XactLockTableWait(other, NULL, NULL, XLTW_None);
	} while (TransactionIdIsValid(other));
}

typedef struct Count
{
	const uint8 *master;
	int			rows;
} Count;

static void
count_row(const TdeDataKey *row, void *arg)
{
	Count	   *count = arg;

	if (row->state == TDE_STATE_DESTROYED)
		return;
	if (count->master == NULL || memcmp(row->master, count->master, TDE_MASTER_ID_SIZE) == 0)
		count->rows++;
}

/* How many data keys of this database the master key wraps. */
static int
count_wrapped(const uint8 *master)
{
	Count		count = {master, 0};
	Relation	rel;
	LOCKMODE	lock = master ? ShareLock : AccessShareLock;

	if (master)
		await_extension();
	if (!OidIsValid(tde_keys_relid()))
		return 0;

	/*
	 * This lock conflicts with the one that a rotation holds until its transaction ends: if that rolls back, rows under the
	 * old master key, which nobody sees now, come back.
	 */
	rel = try_table_open(tde_keys_relid(), lock);
	if (rel == NULL)
		return 0;
	tde_keys_scan_relation(rel, count_row, &count);
	table_close(rel, lock);
	return count.rows;
}

static void
give_answer(uint32 number, int count)
{
	SpinLockAcquire(&answer->lock);
	if (answer->number == number)
	{
		answer->count = count;
		answer->given = true;
	}
	SpinLockRelease(&answer->lock);
}

void
tde_purge_worker(Datum main_arg)
{
	Question	question;
	int			count;

	memcpy(&question, MyBgworkerEntry->bgw_extra, sizeof(question));
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	/* who asks so may hold what it would wait for */
	if (question.any)
		SetConfigOption("lock_timeout", "2s", PGC_SUSET, PGC_S_OVERRIDE);
	BackgroundWorkerInitializeConnectionByOid(question.database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	pgstat_report_activity(STATE_RUNNING, question.any ? "tde_wallet_create()" : "tde_purge_master_key()");
	count = count_wrapped(question.any ? NULL : question.master);

	/*
	 * A commit record on disk: then those of the transactions whose work was seen are, too.  A rotation that was committed
	 * with synchronous_commit = off would otherwise be undone by a crash after its old master key is gone.
	 */
	(void) GetCurrentTransactionId();
	ForceSyncCommit();
	CommitTransactionCommand();
	give_answer(question.number, count);
	proc_exit(0);
}

/* ---- asking ---- */

static void
stop_worker(int code, Datum handle)
{
	TerminateBackgroundWorker((BackgroundWorkerHandle *) DatumGetPointer(handle));
}

static uint32
next_question(void)
{
	uint32		number;

	SpinLockAcquire(&answer->lock);
	number = ++answer->number;
	answer->given = false;
	SpinLockRelease(&answer->lock);
	return number;
}

bool
tde_purge_count(Oid database, const uint8 *master, int *count)
{
	Question	question = {next_question(), database};
	BackgroundWorker worker = {0};
	BackgroundWorkerHandle *handle;
	bool		given;

	snprintf(worker.bgw_name, BGW_MAXLEN, "tde_column purge of a master key");
	snprintf(worker.bgw_type, BGW_MAXLEN, "tde_column purge");
	snprintf(worker.bgw_library_name, BGW_MAXLEN, "tde_column");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "tde_purge_worker");
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_notify_pid = MyProcPid;
	if (master)
		memcpy(question.master, master, sizeof(question.master));
	question.any = master == NULL;
	memcpy(worker.bgw_extra, &question, sizeof(question));
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
	{
		if (master == NULL)
			return false;
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("no background worker is free to look at the other databases"),
				 errhint("Try again later, or increase max_worker_processes.")));
	}

	PG_ENSURE_ERROR_CLEANUP(stop_worker, PointerGetDatum(handle));
	{
		if (WaitForBackgroundWorkerShutdown(handle) == BGWH_POSTMASTER_DIED)
			ereport(FATAL, (errcode(ERRCODE_ADMIN_SHUTDOWN), errmsg("postmaster exited during tde_purge_master_key()")));
	}
	PG_END_ENSURE_ERROR_CLEANUP(stop_worker, PointerGetDatum(handle));

	SpinLockAcquire(&answer->lock);
	given = answer->given;
	*count = answer->count;
	SpinLockRelease(&answer->lock);
	return given;
}

/* ---- set-up ---- */

static void
startup_purge(void)
{
	bool		found;

	answer = ShmemInitStruct("tde_column purge", sizeof(Answer), &found);
	if (!found)
	{
		memset(answer, 0, sizeof(Answer));
		SpinLockInit(&answer->lock);
	}
}

bool
tde_purge_available(void)
{
	return answer != NULL;
}

void
tde_purge_init(void)
{
	(void) tde_memory_shmem_add(sizeof(Answer), NULL, startup_purge);
}
