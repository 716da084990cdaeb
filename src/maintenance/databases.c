/*
 * databases.c - the databases of the instance: counting the data keys of each under a master key, and wrapping them all by the current one.
 *
 * A process reads one database, so a background worker is started for each.
 *
 * Another way to know what a purge must know would be that each database says by
 * itself, where all can read it, that no row of it is wrapped by the master key, and that a purge is refused until all have
 * said so.  It would be no safer, and worse to use: template0 and databases without the extension can say nothing, nor can one
 * that was made from a template a moment ago, and they look like one that was forgotten; what was said would have to reach the
 * disk after the rows it is about, and be taken back when a rotation rolls back or an import brings such a row.  What is purged
 * in error is lost for ever, so somebody looks.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
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

#include "keys/table.h"
#include "keys/table_rows.h"
#include "keys/wrap.h"
#include "maintenance/databases.h"
#include "server/compat.h"
#include "server/memory.h"
#include "wallet/wallet.h"

/* What a worker is asked, in bgw_extra. */
typedef struct Question
{
	uint32		number;			/* which question; the answer has to be to the same */
	Oid			database;
	TdeDatabaseTask task;
	uint8		master[TDE_MASTER_ID_SIZE];
} Question;

StaticAssertDecl(sizeof(Question) <= BGW_EXTRALEN, "must fit into what a worker is given");

/* What it answers, in shared memory.  One session at a time asks.  A worker of one that was canceled finds another number here, and says nothing. */
typedef struct Answer
{
	slock_t		lock;
	uint32		number;			/* of the last question */
	bool		given;			/* false: the worker has failed, or is not done yet */
	int			count;
} Answer;

static Answer *answer = NULL;

/* ---- the worker ---- */

/*
 * Waits until no transaction creates or drops the extension here.  Keys that CREATE EXTENSION makes are in a table that nobody else can see, or lock,
 * before it commits.  So this looks for its row in pg_extension as a unique index does, under a dirty snapshot.
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

/* Returns how many data keys of this database the master key wraps; NULL: how many there are.  Only the former waits, for open transactions. */
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

static bool
renew_row(TdeDataKey *row, void *master)
{
	return row->state != TDE_STATE_DESTROYED && tde_keywrap_renew(row, master);
}

int
tde_databases_rewrap_own(const uint8 *master)
{
	TdeMasterKey current;

	/* whoever rotates it meanwhile wraps these rows after us */
	LockRelationOid(tde_keys_require(), ShareRowExclusiveLock);
	if (!tde_wallet_find_master(master, &current))
		tde_wallet_closed_error("to wrap a data key");
	OPENSSL_cleanse(current.key, sizeof(current.key));
	return tde_keys_edit(renew_row, current.id);
}

/* Returns how many were under another one; -1: there is no extension here. */
static int
wrap_anew(void)
{
	int			count = -1;

	await_extension();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (OidIsValid(tde_keys_relid()))
		count = tde_databases_rewrap_own(NULL);
	PopActiveSnapshot();
	return count;
}

/* Answers, unless another question has been asked since. */
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

static const char *const callers[] = {
	[TDE_COUNT_WRAPPED] = "tde_purge_master_key()",[TDE_COUNT_KEYS] = "tde_wallet_create()",
	[TDE_WRAP_ANEW] = "tde_rewrap_all_databases()"
};

void
tde_databases_worker(Datum main_arg)
{
	Question	question;
	int			count;

	memcpy(&question, MyBgworkerEntry->bgw_extra, sizeof(question));
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	/* who asks so may hold what it would wait for */
	if (question.task == TDE_COUNT_KEYS)
		SetConfigOption("lock_timeout", "2s", PGC_SUSET, PGC_S_OVERRIDE);
	BackgroundWorkerInitializeConnectionByOid(question.database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	pgstat_report_activity(STATE_RUNNING, callers[question.task]);
	count = question.task == TDE_WRAP_ANEW ? wrap_anew() : count_wrapped(question.task == TDE_COUNT_WRAPPED ? question.master : NULL);

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

/* ---- databases ---- */

static int
by_name(const ListCell *a, const ListCell *b)
{
	return strcmp(((TdeDatabase *) lfirst(a))->name, ((TdeDatabase *) lfirst(b))->name);
}

List *
tde_databases_list(void)
{
	Relation	rel = table_open(DatabaseRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	List	   *databases = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);
		TdeDatabase *database;

		CHECK_FOR_INTERRUPTS();
		if (form->datconnlimit == TDE_INVALID_DATABASE)
			continue;
		database = palloc(sizeof(TdeDatabase));
		database->oid = form->oid;
		database->name = pstrdup(NameStr(form->datname));
		databases = lappend(databases, database);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	list_sort(databases, by_name);
	return databases;
}

/* ---- asking ---- */

/* Whoever asked was canceled or terminated.  The worker would go on, and hold its locks. */
static void
stop_worker(int code, Datum handle)
{
	TerminateBackgroundWorker((BackgroundWorkerHandle *) DatumGetPointer(handle));
}

/* Begins a question.  What a worker of the last one may still answer is not taken for this one. */
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
tde_databases_ask(Oid database, TdeDatabaseTask task, const uint8 *master, int *count)
{
	Question	question = {next_question(), database, task};
	BackgroundWorker worker = {0};
	BackgroundWorkerHandle *handle;
	bool		given;

	snprintf(worker.bgw_name, BGW_MAXLEN, "tde_column data keys of a database");
	snprintf(worker.bgw_type, BGW_MAXLEN, "tde_column data keys");
	snprintf(worker.bgw_library_name, BGW_MAXLEN, "tde_column");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "tde_databases_worker");
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_notify_pid = MyProcPid;
	if (master)
		memcpy(question.master, master, sizeof(question.master));
	memcpy(worker.bgw_extra, &question, sizeof(question));
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
	{
		if (task == TDE_COUNT_KEYS)
			return false;
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("no background worker is free to look at the other databases"),
				 errhint("Try again later, or increase max_worker_processes.")));
	}

	PG_ENSURE_ERROR_CLEANUP(stop_worker, PointerGetDatum(handle));
	{
		if (WaitForBackgroundWorkerShutdown(handle) == BGWH_POSTMASTER_DIED)
			ereport(FATAL, (errcode(ERRCODE_ADMIN_SHUTDOWN), errmsg("postmaster exited during %s", callers[task])));
	}
	PG_END_ENSURE_ERROR_CLEANUP(stop_worker, PointerGetDatum(handle));

	SpinLockAcquire(&answer->lock);
	given = answer->given;
	*count = answer->count;
	SpinLockRelease(&answer->lock);
	return given;
}

void
tde_databases_require(const char *doing)
{
	if (!tde_databases_available())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot %s without shared_preload_libraries", doing),
				 errhint("Add tde_column to shared_preload_libraries and restart.")));
	if (TransactionIdIsValid(GetTopTransactionIdIfAny()))
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("cannot %s in a transaction that has changed something", doing),
				 errhint("Commit the transaction first.")));
}

/* ---- set-up ---- */

static void
startup_databases(void)
{
	bool		found;

	answer = ShmemInitStruct("tde_column databases", sizeof(Answer), &found);
	if (!found)
	{
		memset(answer, 0, sizeof(Answer));
		SpinLockInit(&answer->lock);
	}
}

bool
tde_databases_available(void)
{
	return answer != NULL;
}

void
tde_databases_init(void)
{
	(void) tde_memory_shmem_add(sizeof(Answer), NULL, startup_databases);
}
