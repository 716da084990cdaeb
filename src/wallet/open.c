/*
 * open.c - opening the wallet: with a passphrase, or by the passphrase command when a key is needed; and where passphrases come from.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/condition_variable.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#include "utils/wait_event.h"

#include "server/command.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/error.h"
#include "server/hidden.h"
#include "wallet/file.h"
#include "wallet/given.h"
#include "wallet/passphrase.h"
#include "wallet/state.h"
#include "wallet/wallet.h"

/* ---- where passphrases and other secrets come from: COPY, arguments in SQL and the command that prints one; how strong they have to be ---- */

/* So that no single character, repeated, is a passphrase. */
#define MIN_DIFFERENT	5

int			tde_passphrase_min_length = 12;

bool
tde_passphrase_run(const char *text, int timeout, char passphrase[TDE_MAX_PASSPHRASE])
{
	TdeCommand	command = {"passphrase command", text, timeout, "tde_column.passphrase_timeout", passphrase, TDE_MAX_PASSPHRASE};
	size_t		line;

	if (!tde_command_run(&command))
		return false;
	line = strcspn(passphrase, "\r\n");
	explicit_bzero(passphrase + line, TDE_MAX_PASSPHRASE - line);
	if (line == 0)
		ereport(LOG, (errmsg("passphrase command printed no passphrase")));
	return line > 0;
}

/* ---- the rules that a new one has to follow ---- */

static int
different_bytes(const char *passphrase)
{
	bool		seen[256] = {false};
	int			count = 0;

	for (const char *p = passphrase; *p; p++)
	{
		count += !seen[(uint8) *p];
		seen[(uint8) *p] = true;
	}
	explicit_bzero(seen, sizeof(seen));
	return count;
}

void
tde_passphrase_require_strength(const char *passphrase, const char *what)
{
	if (strlen(passphrase) >= (size_t) tde_passphrase_min_length && different_bytes(passphrase) >= MIN_DIFFERENT)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s is too weak", what),
			 errdetail("It must have at least %d bytes (tde_column.passphrase_min_length), %d of them different.",
					   tde_passphrase_min_length, MIN_DIFFERENT),
			 errhint("SELECT gen_random_uuid(); makes one of 122 random bits.  tde_wallet_create() makes a passphrase of 256 if it is given none and no "
					 "command prints one.")));
}

bool
tde_passphrase_is_given(FunctionCallInfo fcinfo, int n)
{
	return !PG_ARGISNULL(n) || tde_given_waits();
}

/*
 * Copies an argument to where it is cleansed.  The argument itself is not ours: a constant of the plan, which may run again.  A copy that detoasting
 * has made is.
 */
static void
take_argument(Datum argument, const char *what, char passphrase[TDE_MAX_PASSPHRASE])
{
	text	   *given;
	Size		size;

	tde_hidden_statement("");
	given = DatumGetTextPP(argument);
	size = VARSIZE_ANY_EXHDR(given);
	if (size < TDE_MAX_PASSPHRASE)
	{
		memcpy(passphrase, VARDATA_ANY(given), size);
		passphrase[size] = '\0';
	}
	if ((Pointer) given != DatumGetPointer(argument))
	{
		explicit_bzero(given, VARSIZE_ANY(given));
		pfree(given);
	}
	tde_given_check_size(size, what);
}

void
tde_passphrase_take(FunctionCallInfo fcinfo, int n, const char *what, char passphrase[TDE_MAX_PASSPHRASE])
{
	if (!PG_ARGISNULL(n))
		take_argument(PG_GETARG_DATUM(n), what, passphrase);
	else if (!tde_given_take(passphrase))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no %s was given", what),
				 errhint("Give it by COPY tde.passphrase FROM STDIN, and call the function in the same session within a minute.")));
}

void
tde_passphrase_use(FunctionCallInfo fcinfo, int n, const char *what, TdePassphraseUse use, void *arg)
{
	char		passphrase[TDE_MAX_PASSPHRASE];

	PG_TRY();
	{
		tde_passphrase_take(fcinfo, n, what, passphrase);
		use(passphrase, arg);
	}
	PG_FINALLY();
	{
		explicit_bzero(passphrase, sizeof(passphrase));
	}
	PG_END_TRY();
}

/* ---- opening ---- */

/* After a failure the passphrase command rests, so that not every query of a busy server waits for its timeout. */
#define RETRY_AFTER_MS 5000

/* Returns the master key of this id; NULL if it is not there. */
static const TdeMasterKey *
find_among(const TdeMasterKeys *keys, const uint8 *id)
{
	for (int i = 0; i < keys->count; i++)
		if (memcmp(keys->keys[i].id, id, TDE_MASTER_ID_SIZE) == 0)
			return &keys->keys[i];
	return NULL;
}

/*
 * Lists, with commas, the ids of master keys that are open and not among these, and returns how many there are.  Entries of erasable keys do not
 * count if another server changes the wallet: they are not there any more when it has destroyed the keys.
 */
static int
list_lost(const TdeMasterKeys *keys, bool with_erasable, StringInfo ids)
{
	int			count = 0;

	tde_wallet_lock(LW_SHARED);
	for (int i = 0; tde_wallet_state->status == TDE_WALLET_OPEN && i < tde_wallet_state->contents->keys.count; i++)
	{
		const TdeMasterKey *open = &tde_wallet_state->contents->keys.keys[i];

		if (find_among(keys, open->id) != NULL || (open->state == TDE_MASTER_ERASABLE && !with_erasable))
			continue;
		appendStringInfo(ids, "%s%s", count > 0 ? ", " : "",
						 DatumGetCString(DirectFunctionCall1(uuid_out, PointerGetDatum(open->id))));
		count++;
	}
	tde_wallet_unlock();
	return count;
}

/* Returns true if the file has master keys that are not open.  Then it is a newer one, or another wallet altogether. */
static bool
has_others(const TdeMasterKeys *keys)
{
	bool		found = false;

	tde_wallet_lock(LW_SHARED);
	for (int i = 0; i < keys->count && !found; i++)
		found = find_among(&tde_wallet_state->contents->keys, keys->keys[i].id) == NULL;
	tde_wallet_unlock();
	return found;
}

/* errhint(): what to do about a file that lacks master keys. */
static int
what_to_do(const TdeMasterKeys *keys, bool ours, const char *loss)
{
	if (!ours)
		return errhint("The server in %s has changed the wallet since.  To keep what is open, set tde_column.wallet_file to "
					   "another path and write it there with tde_wallet_save().  To lose it nevertheless, run: SELECT "
					   "tde_wallet_open(..., confirm => '%s');", keys->owner.name, loss);
	return errhint("The file is %s.  If it is the right one, and a wrong one is open, run tde_wallet_close() and open this one.  Otherwise put the "
				   "right one there, or move this one away, keep it, and write the open wallet with "
				   "tde_wallet_save().  To lose them nevertheless, run: SELECT tde_wallet_open(..., confirm => '%s');",
				   has_others(keys) ? "another server's, or has master keys that were not opened yet" : "an older one", loss);
}

/*
 * Throws if opening this file would lose a master key that is open, unless the user has confirmed the loss in so many words.  What is in memory may
 * be the last copy of it.  On a standby it is not: what the primary has removed goes there, too, with its file.
 */
static void
refuse_loss(const char *path, const TdeWalletContents *contents, const char *confirm)
{
	StringInfoData ids;
	const char *loss;
	bool		ours = tde_server_owns(&contents->keys.owner);
	int			count;

	initStringInfo(&ids);
	count = list_lost(&contents->keys, ours, &ids);
	loss = psprintf("forget %d master %s", count, count == 1 ? "key" : "keys");
	if (count > 0 && !RecoveryInProgress() && (confirm == NULL || strcmp(confirm, loss) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg_plural("wallet file \"%s\" lacks %d master key that is open",
							   "wallet file \"%s\" lacks %d master keys that are open", count, path, count),
				 errdetail("Values under data keys wrapped by %s could no longer be read.", ids.data),
				 what_to_do(&contents->keys, ours, loss)));
	if (count > 0)
		ereport(WARNING,
				(errmsg_plural("%d master key is not open any more", "%d master keys are not open any more", count, count),
				 errdetail("The wallet file lacks %s.", ids.data)));
	pfree(ids.data);
}

/* What open_with() and reread() are given; passphrase NULL: the one that opened it, or the command's. */
typedef struct Opening
{
	const char *passphrase;
	const char *confirm;
} Opening;

static void
open_with(TdeWalletContents *contents, void *arg)
{
	Opening    *opening = arg;

	strlcpy(contents->passphrase, opening->passphrase, sizeof(contents->passphrase));
	tde_wallet_file_read(tde_wallet_file, contents, ERROR);
	refuse_loss(tde_wallet_file, contents, opening->confirm);
	tde_wallet_file_warn_place(tde_wallet_file);
	tde_wallet_install(contents);
}

void
tde_wallet_open_with(const char *passphrase, const char *confirm)
{
	Opening		opening = {passphrase, confirm};

	tde_wallet_require_shared();
	(void) tde_wallet_path(ERROR);
	PG_TRY();
	{
		tde_wallet_at_file(open_with, &opening);
	}
	PG_CATCH();
	{
		tde_counters_event(TDE_EVENT_WALLET_REFUSED, 1);
		PG_RE_THROW();
	}
	PG_END_TRY();
	tde_counters_event(TDE_EVENT_WALLET_OPENED, 1);
	ereport(LOG, (errmsg("wallet opened by user \"%s\"", GetUserNameFromId(GetUserId(), false))));
}

/* ---- opening by command ---- */

static void
command_failed_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_TDE_WALLET_FAILURE),
			 errmsg("could not open the wallet through the passphrase command"),
			 errhint("The server log says why.")));
}

bool
tde_wallet_ask_command(char passphrase[TDE_MAX_PASSPHRASE])
{
	if (!tde_wallet_has_command())
		return false;
	if (!tde_passphrase_run(tde_passphrase_command, tde_passphrase_timeout, passphrase))
		ereport(ERROR,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("could not get a passphrase from the passphrase command"),
				 errhint("The server log says why.")));
	return true;
}

/*
 * Ends an opening by command, at the file.  contents NULL: it did not open.  Somebody may have closed the wallet while the command ran; that has the
 * last word.
 */
static void
finish_opening(const TdeWalletContents *contents, bool failed)
{
	tde_counters_event(contents ? TDE_EVENT_WALLET_OPENED : TDE_EVENT_WALLET_REFUSED, 1);
	tde_wallet_lock(LW_EXCLUSIVE);
	tde_wallet_state->failed_at = failed ? GetCurrentTimestamp() : 0;
	if (contents && !tde_wallet_state->closed_by_user)
		tde_wallet_install_locked(contents);
	tde_wallet_unlock();
}

static void
open_by_command(TdeWalletContents *contents, void *arg)
{
	bool		good = tde_wallet_path(LOG) != NULL &&
	tde_passphrase_run(tde_passphrase_command, tde_passphrase_timeout, contents->passphrase) &&
	tde_wallet_file_read(tde_wallet_file, contents, LOG);

	finish_opening(good ? contents : NULL, !good);
}

/*
 * Returns true if this process may run the command now; then the state is busy.  *wait: another one is at it.  After a failure nobody tries for
 * RETRY_AFTER_MS.
 */
static bool
take_opening(bool *wait)
{
	bool		taken = false;

	tde_wallet_lock(LW_EXCLUSIVE);
	*wait = tde_wallet_state->busy && tde_wallet_state->status == TDE_WALLET_CLOSED;
	if (tde_wallet_state->status == TDE_WALLET_CLOSED && !tde_wallet_state->busy && !tde_wallet_state->closed_by_user &&
		tde_wallet_has_command() &&
		(tde_wallet_state->failed_at == 0 ||
		 TimestampDifferenceExceeds(tde_wallet_state->failed_at, GetCurrentTimestamp(), RETRY_AFTER_MS)))
		taken = tde_wallet_state->busy = true;
	tde_wallet_unlock();
	return taken;
}

static TdeWalletStatus
current_status(void)
{
	TdeWalletStatus status;

	tde_wallet_lock(LW_SHARED);
	status = tde_wallet_state->status;
	tde_wallet_unlock();
	return status;
}

static bool
closed_but_busy(void)
{
	bool		result;

	tde_wallet_lock(LW_SHARED);
	result = tde_wallet_state->status == TDE_WALLET_CLOSED && tde_wallet_state->busy;
	tde_wallet_unlock();
	return result;
}

bool
tde_wallet_ensure_open(void)
{
	bool		wait;

	if (current_status() == TDE_WALLET_OPEN)
		return true;
	if (take_opening(&wait))
		tde_wallet_at_taken_file(open_by_command, NULL);
	else if (wait)
	{
		ConditionVariablePrepareToSleep(&tde_wallet_state->changed);
		while (closed_but_busy())
			ConditionVariableSleep(&tde_wallet_state->changed, PG_WAIT_EXTENSION);
		ConditionVariableCancelSleep();
	}
	return current_status() == TDE_WALLET_OPEN;
}

/*
 * Reads the file again, which may have been replaced, with the passphrase that the command prints now, or else with the one that opened it.  Nobody
 * finds the wallet closed meanwhile, and what was open stays if it fails.
 */
static void
reread(TdeWalletContents *contents, void *arg)
{
	Opening    *opening = arg;

	tde_wallet_copy(contents);
	if (tde_wallet_has_command() && !tde_passphrase_run(tde_passphrase_command, tde_passphrase_timeout, contents->passphrase))
		command_failed_error();
	tde_wallet_file_read(tde_wallet_path(ERROR), contents, ERROR);
	refuse_loss(tde_wallet_path(ERROR), contents, opening->confirm);
	tde_wallet_install(contents);
}

void
tde_wallet_open_by_command(const char *confirm)
{
	Opening		opening = {NULL, confirm};

	if (current_status() == TDE_WALLET_OPEN)
	{
		tde_wallet_at_file(reread, &opening);
		return;
	}
	if (!tde_wallet_has_command())
		ereport(ERROR,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("no passphrase command is configured"),
				 errhint("Give the passphrase to tde_wallet_open(), or set tde_column.passphrase_command.")));
	/* whoever asks for it wants it now: neither an earlier closing nor an earlier failure counts */
	tde_wallet_lock(LW_EXCLUSIVE);
	tde_wallet_state->closed_by_user = false;
	tde_wallet_state->failed_at = 0;
	tde_wallet_unlock();
	if (!tde_wallet_ensure_open())
		command_failed_error();
}
