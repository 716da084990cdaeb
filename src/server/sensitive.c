/*
 * sensitive.c - statements in which a value of an encrypted type was seen in clear, by this process or by its parallel workers.
 *
 * A mark is the start time of a statement, so the next one is not marked, and nothing has to be taken back.  It is one number that is written by the
 * leader and its workers alike: whichever comes first, they write the same.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/shmem.h"

#include "server/compat.h"
#include "server/error.h"
#include "server/memory.h"

static TimestampTz own_mark = 0;

TimestampTz *tde_log_sensitive = &own_mark;

/* One for each backend, for it and its parallel workers, whose statements start when the leader's does.  NULL: not preloaded. */
static TimestampTz *marks = NULL;

static bool
is_this_statement(TimestampTz start)
{
	return start != 0 && start == GetCurrentStatementStartTimestamp();
}

/* Returns the leader's mark; NULL in processes without a place in the array, and in those that are ending. */
static TimestampTz *
shared_mark(void)
{
	PGPROC	   *leader;
	int			number;

	if (marks == NULL || MyProc == NULL)
		return NULL;
	leader = MyProc->lockGroupLeader ? MyProc->lockGroupLeader : MyProc;
	number = TDE_PROC_NUMBER(leader);
	return number < MaxBackends ? &marks[number] : NULL;
}

void
tde_sensitive_mark_statement(TimestampTz start)
{
	TimestampTz *mark = shared_mark();

	tde_log_sensitive = mark ? mark : &own_mark;
	*tde_log_sensitive = start;
}

bool
tde_sensitive_is_marked(void)
{
	TimestampTz *mark = shared_mark();

	return is_this_statement(own_mark) || (mark && is_this_statement(*mark));
}

bool
tde_sensitive_marks_are_shared(void)
{
	return marks != NULL;
}

static Size
marks_size(void)
{
	return mul_size(MaxBackends, sizeof(TimestampTz));
}

static void
sensitive_startup(void)
{
	bool		found;

	marks = ShmemInitStruct("tde_column log", marks_size(), &found);
	if (!found)
		memset(marks, 0, marks_size());
}

void
tde_sensitive_init(void)
{
	(void) tde_memory_shmem_add_for_backends(sizeof(TimestampTz), sensitive_startup);
}
