/*
 * attempts.c - what may fail because of what is stored, in subtransactions, so that one damaged value does not end the command.
 *
 * A subtransaction costs more than a value, so that many attempts share one.  Who reads tables and indexes meanwhile does so under the resource
 * owner outside: what it holds stays when the subtransaction ends.
 */
#include "postgres.h"

#include "access/xact.h"

#include "server/compat.h"
#include "verify/verify.h"

/* Attempts in one subtransaction. */
#define TOGETHER	1000

static void
begin(TdeVerification *verification)
{
	MemoryContext context = CurrentMemoryContext;

	verification->outside = CurrentResourceOwner;
	BeginInternalSubTransaction(NULL);
	verification->inside = CurrentResourceOwner;
	CurrentResourceOwner = verification->outside;
	MemoryContextSwitchTo(context);
}

void
tde_attempts_end(TdeVerification *verification)
{
	MemoryContext context = CurrentMemoryContext;

	if (verification->attempts == 0)
		return;
	verification->attempts = 0;
	ReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = verification->outside;
}

/* In PG_CATCH: the error, once its subtransactions are rolled back; rethrown if it is no problem of what is stored. */
static ErrorData *
caught(MemoryContext context, ResourceOwner outside, int subtransactions)
{
	ErrorData  *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	for (int i = 0; i < subtransactions; i++)
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = outside;
	if (!tde_verify_is_problem(error))
		ReThrowError(error);
	return error;
}

ErrorData *
tde_attempt(TdeVerification *verification, TdeAttempt attempt, void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ErrorData  *error = NULL;

	if (verification->attempts++ == 0)
		begin(verification);
	CurrentResourceOwner = verification->inside;
	PG_TRY();
	{
		attempt(arg);
	}
	PG_CATCH();
	{
		verification->attempts = 0;
		error = caught(context, verification->outside, 1);
	}
	PG_END_TRY();
	CurrentResourceOwner = verification->outside;
	if (verification->attempts >= TOGETHER)
		tde_attempts_end(verification);
	return error;
}

ErrorData *
tde_attempt_whole(TdeVerification *verification, TdeAttempt attempt, void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner outside = CurrentResourceOwner;
	ErrorData  *error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		attempt(arg);
		tde_attempts_end(verification);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = outside;
	}
	PG_CATCH();
	{
		int			open = verification->attempts > 0 ? 2 : 1;

		verification->attempts = 0;
		error = caught(context, outside, open);
	}
	PG_END_TRY();
	return error;
}
