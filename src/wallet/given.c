/*
 * given.c - the secret that this session has given by COPY, until a function takes it.
 *
 * It is there once, for the user whose session it is, and for a minute.  An error, a rollback and DISCARD drop it, and so does another
 * one.  It is on a page of its own, out of swap and core dumps.
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/timeout.h"

#include "server/compat.h"
#include "server/memory.h"
#include "wallet/given.h"

/* How long it waits: enough for the next statement, typed by hand. */
#define LIFETIME_MS		60000

void
tde_given_check_size(Size size, const char *what)
{
	if (size == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must not be empty", what)));
	if (size >= TDE_MAX_PASSPHRASE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be shorter than %d bytes", what, TDE_MAX_PASSPHRASE)));
}

/* On a page of its own, made with the first one. */
static char *secret_page = NULL;
static volatile sig_atomic_t waits = false;
static Oid	given_by = InvalidOid;
static TimeoutId timer;

/* Also as the handler of a timeout, which is called when a signal comes: it must do nothing else. */
static void
forget_given(void)
{
	waits = false;
	explicit_bzero(secret_page, TDE_MAX_PASSPHRASE);
}

void
tde_given_drop(void)
{
	if (!waits)
		return;
	disable_timeout(timer, false);
	forget_given();
}

/* What is rolled back was not given.  An error ends all timeouts. */
static void
transaction_ends(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT)
		tde_given_drop();
}

static void
subtransaction_ends(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		tde_given_drop();
}

/* The page and the callbacks are made once, by the first secret.  The page is set last, so that after an error all is tried again. */
static void
prepare(void)
{
	char	   *page;

	if (secret_page != NULL)
		return;
	page = tde_memory_secret_pages_new(TDE_MAX_PASSPHRASE);
	if (page == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	timer = RegisterTimeout(USER_TIMEOUT, forget_given);
	RegisterXactCallback(transaction_ends, NULL);
	RegisterSubXactCallback(subtransaction_ends, NULL);
	secret_page = page;
}

void
tde_given_put(const char *secret, Size size)
{
	prepare();
	tde_given_drop();
	tde_given_check_size(size, "secret");
	memcpy(secret_page, secret, size);
	secret_page[size] = '\0';
	given_by = GetSessionUserId();
	waits = true;
	enable_timeout_after(timer, LIFETIME_MS);
}

bool
tde_given_waits(void)
{
	return waits && given_by == GetSessionUserId();
}

/* The timeout may fire between the first look and disable_timeout(), so what has been cleansed by then is not taken for a secret. */
bool
tde_given_take(char secret[TDE_MAX_PASSPHRASE])
{
	bool		taken;

	if (!tde_given_waits())
		return false;
	/* the handler comes no more, but may have come */
	disable_timeout(timer, false);
	taken = waits;
	memcpy(secret, secret_page, TDE_MAX_PASSPHRASE);
	forget_given();
	return taken;
}
