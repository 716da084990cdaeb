/*
 * counts_file.c - the file by which tde.decryptions survives a restart.
 *
 * It is written within a minute of each change, by a background worker that is started when something has changed and ends when nothing has for a
 * minute, and when the server is shut down.  So a crash loses what was counted after the file was last written, and the server says so when it
 * starts again.
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_crc32c.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "decryptions/counts_shared.h"
#include "server/compat.h"
#include "server/memory.h"

#define FILE_NAME	PGSTAT_STAT_PERMANENT_DIRECTORY "/tde_column.decryptions"
#define WRITE_EVERY	60			/* seconds */
#define FILE_LOCK	"tde_column decryptions file"

#define FORMAT	UINT64_C(0x0001444544544445)	/* of the file; ends with its number */

/* What the file begins with; the rows follow, and a CRC-32C of both. */
typedef struct Head
{
	uint64		format;
	bool		complete;		/* written when the server was shut down */
	TdeDecryptionsInfo info;
} Head;

PGDLLEXPORT void tde_decryptions_writer(Datum main_arg);

/* ---- writing ---- */

/* Computes CRC-32C over head and rows, against files that were cut short or damaged, not against forged ones. */
static pg_crc32c
checksum(const Head *head, const TdeDecryptionsRow *rows)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, head, sizeof(*head));
	COMP_CRC32C(crc, rows, head->info.rows * sizeof(*rows));
	FIN_CRC32C(crc);
	return crc;
}

/* Writes the temporary file.  Returns false on a failure, with errno. */
static bool
write_rows(const Head *head, const TdeDecryptionsRow *rows)
{
	FILE	   *file = AllocateFile(FILE_NAME ".tmp", PG_BINARY_W);
	pg_crc32c	crc = checksum(head, rows);
	bool		written;

	if (file == NULL)
		return false;
	written = fwrite(head, sizeof(*head), 1, file) == 1 &&
		fwrite(rows, sizeof(*rows), head->info.rows, file) == head->info.rows &&
		fwrite(&crc, sizeof(crc), 1, file) == 1;
	return FreeFile(file) == 0 && written;
}

/* Writes the file under another name, and renames it.  A failure is told and tried again: nobody's statement is to fail of it. */
static void
write_file(bool complete)
{
	TimestampTz changed = tde_decryptions_changed();
	TdeDecryptionsRow *rows;
	Head		head;

	memset(&head, 0, sizeof(head));
	head.format = FORMAT;
	head.complete = complete;
	rows = tde_decryptions_take(&head.info, GetCurrentTimestamp());
	if (!write_rows(&head, rows))
	{
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", FILE_NAME ".tmp")));
		tde_decryptions_put_back(changed ? changed : head.info.written);
		unlink(FILE_NAME ".tmp");
	}
	else if (durable_rename(FILE_NAME ".tmp", FILE_NAME, LOG) != 0)
		tde_decryptions_put_back(changed ? changed : head.info.written);
	pfree(rows);
}

/* Writes the file, alone: two could write at once when a worker is late. */
static void
write_if_changed(void)
{
	LWLock	   *lock = tde_memory_shmem_lock(FILE_LOCK);

	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (tde_decryptions_changed() != 0)
		write_file(false);
	LWLockRelease(lock);
}

/* For on_shmem_exit() of the postmaster.  It also writes what has not changed, since it is complete now. */
static void
write_at_shutdown(int code, Datum arg)
{
	if (code == 0 && tde_decryptions_shared())
		write_file(true);
}

/* ---- the worker ---- */

static void
leave(int code, Datum arg)
{
	tde_decryptions_leave_writer();
}

/* Returns true if the worker may end.  Something may have changed between the last look and the end of the duty; then that begins anew. */
static bool
is_over(bool changed)
{
	if (changed)
		return false;
	tde_decryptions_leave_writer();
	return tde_decryptions_changed() == 0 || !tde_decryptions_become_writer();
}

/* The worker's main function.  It writes once a minute, and ends after a minute without changes. */
void
tde_decryptions_writer(Datum main_arg)
{
	bool		changed;

	before_shmem_exit(leave, (Datum) 0);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	do
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, WRITE_EVERY * 1000L, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		changed = tde_decryptions_changed() != 0;
		write_if_changed();
	} while (!ShutdownRequestPending && !is_over(changed));
	if (!ShutdownRequestPending)
		cancel_before_shmem_exit(leave, (Datum) 0);
	proc_exit(0);
}

/* Starts the writer.  Returns false if no worker is free. */
static bool
start_worker(void)
{
	BackgroundWorker worker = {0};

	snprintf(worker.bgw_name, BGW_MAXLEN, "tde_column writer of decryptions");
	snprintf(worker.bgw_type, BGW_MAXLEN, "tde_column decryptions");
	snprintf(worker.bgw_library_name, BGW_MAXLEN, "tde_column_decryptions");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "tde_decryptions_writer");
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

/* Without a worker, because none was free or it is late, whoever tells something next writes it. */
void
tde_decryptions_keep(TimestampTz now)
{
	static TimestampTz tried = 0;

	if (!tde_decryptions_shared())
		return;
	if (now - tried > USECS_PER_SEC && tde_decryptions_become_writer())
	{
		tried = now;
		if (!start_worker())
			tde_decryptions_leave_writer();
	}
	if (now - tde_decryptions_changed() > WRITE_EVERY * INT64CONST(1500000))
		write_if_changed();
}

/* ---- the server starts ---- */

/* Returns the rows, palloc'd; NULL: there is no file, or it cannot be read, which is told. */
static TdeDecryptionsRow *
read_file(Head *head)
{
	FILE	   *file = AllocateFile(FILE_NAME, PG_BINARY_R);
	TdeDecryptionsRow *rows = NULL;
	pg_crc32c	crc;

	if (file == NULL && errno == ENOENT)
		return NULL;
	if (file && fread(head, sizeof(*head), 1, file) == 1 && head->format == FORMAT && head->info.rows >= 0 && head->info.rows < PG_INT32_MAX &&
		(rows = palloc_extended((head->info.rows + 1) * sizeof(*rows), MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM)) != NULL &&
		fread(rows, sizeof(*rows), head->info.rows, file) == head->info.rows && fread(&crc, sizeof(crc), 1, file) == 1 &&
		EQ_CRC32C(crc, checksum(head, rows)))
	{
		FreeFile(file);
		return rows;
	}
	ereport(LOG,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("could not read file \"%s\"", FILE_NAME),
			 errdetail("Who decrypted what is counted anew.")));
	if (file)
		FreeFile(file);
	return NULL;
}

/* In the postmaster, also after a crash of a backend: the file is read, and what was counted after it was written is lost. */
static void
startup(void)
{
	Head		head;
	TdeDecryptionsRow *rows = IsUnderPostmaster ? NULL : read_file(&head);

	tde_decryptions_startup(rows ? &head.info : NULL, rows);
	if (rows && !head.complete)
		ereport(LOG,
				(errmsg("decryptions that were counted after %s are lost", timestamptz_to_str(head.info.written)),
				 errdetail("The server was not shut down.")));
	if (rows)
		pfree(rows);
	if (!IsUnderPostmaster)
		on_shmem_exit(write_at_shutdown, (Datum) 0);
}

static void
startup_lock(void)
{
}

void
tde_decryptions_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	(void) tde_memory_shmem_add(tde_decryptions_size(), TDE_DECRYPTIONS_LOCK, startup);
	(void) tde_memory_shmem_add(0, FILE_LOCK, startup_lock);
}
