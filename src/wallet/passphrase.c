/*
 * passphrase.c - where passphrases and other secrets come from, arguments in SQL and the command that prints one, and how strong
 * they have to be.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "server/command.h"
#include "server/compat.h"
#include "server/log_filter.h"
#include "wallet/passphrase.h"

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
			 errhint("tde_wallet_create() makes a passphrase of 256 random bits if it is given none and no command prints one.")));
}

/* Copy the text if it is of a passphrase's size, which is returned. */
static size_t
copy_text(const text *from, char passphrase[TDE_MAX_PASSPHRASE])
{
	size_t		size = VARSIZE_ANY_EXHDR(from);

	if (size > 0 && size < TDE_MAX_PASSPHRASE)
	{
		memcpy(passphrase, VARDATA_ANY(from), size);
		passphrase[size] = '\0';
	}
	return size;
}

void
tde_passphrase_take(Datum argument, const char *what, char passphrase[TDE_MAX_PASSPHRASE])
{
	text	   *given;
	size_t		size;

	tde_log_secret = GetCurrentStatementStartTimestamp();
	given = DatumGetTextPP(argument);
	size = copy_text(given, passphrase);
	/* the argument itself is not ours: a constant of the plan, which may run again */
	if ((Pointer) given != DatumGetPointer(argument))
	{
		explicit_bzero(given, VARSIZE_ANY(given));
		pfree(given);
	}
	if (size == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must not be empty", what)));
	if (size >= TDE_MAX_PASSPHRASE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be shorter than %d bytes", what, TDE_MAX_PASSPHRASE)));
}

void
tde_passphrase_use(Datum argument, const char *what, TdePassphraseUse use, void *arg)
{
	char		passphrase[TDE_MAX_PASSPHRASE];

	PG_TRY();
	{
		tde_passphrase_take(argument, what, passphrase);
		use(passphrase, arg);
	}
	PG_FINALLY();
	{
		explicit_bzero(passphrase, sizeof(passphrase));
	}
	PG_END_TRY();
}
