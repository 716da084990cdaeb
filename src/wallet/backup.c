/*
 * backup.c - copies of the wallet: those that the DBA's command takes away, and those that stay beside the file.
 *
 * The copies beside the file are hard links.  The newest one is made before the file is replaced, and a file is only ever renamed onto another name.
 * So at each moment of a crash there is a whole wallet at PATH.
 */
#include "postgres.h"

#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "lib/stringinfo.h"
#include "storage/fd.h"

#include "server/command.h"
#include "server/compat.h"
#include "server/error.h"
#include "wallet/backup.h"

char	   *tde_wallet_backup_command = NULL;
int			tde_wallet_backup_timeout = 60000;
int			tde_wallet_backup_failure = TDE_BACKUP_ERROR;
int			tde_wallet_generations = 5;

/* ---- the command ---- */

bool
tde_wallet_backup_wanted(void)
{
	return tde_wallet_backup_command != NULL && tde_wallet_backup_command[0] != '\0';
}

/* Returns a name under which no earlier backup was made: that of the wallet file with the time, to the microsecond. */
static char *
backup_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct timeval now;
	struct tm	utc;
	char		stamp[32];

	gettimeofday(&now, NULL);
	gmtime_r(&now.tv_sec, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &utc);
	return psprintf("%s.%s.%06ldZ", slash ? slash + 1 : path, stamp, (long) now.tv_usec);
}

/* As in archive_command: %p is the file, %f the name for its backup, %% a percent sign; others stay as they are. */
static char *
command_for(const char *file, const char *backup)
{
	StringInfoData text;

	initStringInfo(&text);
	for (const char *p = tde_wallet_backup_command; *p; p++)
	{
		if (*p == '%' && p[1] == 'p')
			appendStringInfoString(&text, file);
		else if (*p == '%' && p[1] == 'f')
			appendStringInfoString(&text, backup);
		else if (*p == '%' && p[1] == '%')
			appendStringInfoChar(&text, '%');
		else
		{
			appendStringInfoChar(&text, *p);
			continue;
		}
		p++;
	}
	return text.data;
}

bool
tde_wallet_backup_run(const char *file, const char *path, char backup[MAXPGPATH])
{
	TdeCommand	command = {"wallet backup command", NULL, tde_wallet_backup_timeout, "tde_column.wallet_backup_timeout"};

	strlcpy(backup, backup_name(path), MAXPGPATH);
	command.text = command_for(file, backup);
	if (tde_command_run(&command))
		return true;
	backup[0] = '\0';
	if (tde_wallet_backup_failure == TDE_BACKUP_ERROR)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("the wallet was not changed, because its backup failed"),
				 errdetail("The command that tde_column.wallet_backup_command sets has failed; the server log says why."),
				 errhint("Fix the command, and try again.  With tde_column.wallet_backup_failure = warning, changes are made "
						 "without a backup.")));
	return false;
}

void
tde_wallet_backup_warn(bool failed)
{
	if (!failed)
		return;
	ereport(WARNING,
			(errmsg("the wallet was changed, and its backup failed"),
			 errdetail("The command that tde_column.wallet_backup_command sets has failed; the server log says why."),
			 errhint("Fix the command, and call tde_wallet_backup().")));
}

/* ---- copies beside the file ---- */

static char *
generation(const char *path, int number)
{
	return number == 1 ? psprintf("%s.previous", path) : psprintf("%s.previous.%d", path, number);
}

/* Returns the number that the rest of a file's name is; 0 if it is none.  Nine digits suffice for any setting and any process. */
static int
number_in(const char *digits, size_t length)
{
	return length > 0 && length < 10 && strspn(digits, "0123456789") >= length ? atoi(digits) : 0;
}

/*
 * Returns true if this file of the wallet's folder is an earlier copy from this number on, counted from 2.  So is what a crash has left of a copy, or
 * of a file that was being written (PATH.PID.tmp).
 */
static bool
is_surplus(const char *entry, const char *file, int first)
{
	static const char mark[] = ".previous.";
	static const char temporary[] = ".tmp";
	size_t		length = strlen(file);
	const char *rest = entry + length;

	if (strncmp(entry, file, length) != 0)
		return false;
	if (strncmp(rest, mark, strlen(mark)) == 0)
	{
		rest += strlen(mark);
		return strcmp(rest, temporary + 1) == 0 || number_in(rest, strlen(rest)) >= first;
	}
	return *rest == '.' && strlen(rest) > sizeof(temporary) && number_in(rest + 1, strlen(rest) - sizeof(temporary)) > 0 &&
		strcmp(rest + strlen(rest) - strlen(temporary), temporary) == 0;
}

/* Looks at the folder, not for one number after the other: a crash may have left a gap. */
static void
remove_surplus(const char *path, int first, int elevel)
{
	const char *file = strrchr(path, '/') + 1;
	char	   *folder = pnstrdup(path, file - path - 1);
	DIR		   *dir = AllocateDir(*folder ? folder : "/");
	struct dirent *entry;

	while ((entry = ReadDirExtended(dir, *folder ? folder : "/", elevel)) != NULL)
	{
		char	   *name = psprintf("%s/%s", folder, entry->d_name);

		if (is_surplus(entry->d_name, file, first) && unlink(name) < 0 && errno != ENOENT)
			ereport(elevel,
					(errcode_for_file_access(),
					 errmsg("could not remove earlier copy \"%s\" of the wallet: %m", name),
					 errdetail("It holds the master keys of that time, including those removed since."),
					 errhint("Remove it.")));
		pfree(name);
	}
	if (dir)
		FreeDir(dir);
	pfree(folder);
}

/*
 * Returns true if the newest copy is the file itself, since a change failed after that copy was made.  Otherwise each further failure would cost an
 * older one.
 */
static bool
is_kept(const char *path, const char *newest)
{
	struct stat file;
	struct stat copy;

	return stat(path, &file) == 0 && lstat(newest, &copy) == 0 && file.st_dev == copy.st_dev && file.st_ino == copy.st_ino;
}

/* Makes each copy the next older one; the oldest first, so that a crash in between costs none but that one. */
static void
shift_generations(const char *path)
{
	for (int i = tde_wallet_generations; i > 1; i--)
	{
		char	   *from = generation(path, i - 1);
		char	   *to = generation(path, i);

		if (rename(from, to) < 0 && errno != ENOENT)
			ereport(ERROR, (errcode_for_file_access(), errmsg("could not rename file \"%s\" to \"%s\": %m", from, to)));
		pfree(from);
		pfree(to);
	}
}

/* Makes this file PATH.previous; shift: what that was becomes an older one.  Throws if that cannot be done, and no copy is lost. */
static void
make_newest(const char *file, const char *path, bool shift)
{
	char	   *newest = generation(path, 1);

	/* made before any copy is moved: where it cannot be, none is */
	char	   *scratch = psprintf("%s.tmp", newest);

	if ((unlink(scratch) < 0 && errno != ENOENT) || link(file, scratch) < 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not keep a copy of the wallet as \"%s\": %m", scratch)));
	PG_TRY();
	{
		if (shift)
			shift_generations(path);
		if (rename(scratch, newest) < 0)
			ereport(ERROR, (errcode_for_file_access(), errmsg("could not rename file \"%s\" to \"%s\": %m", scratch, newest)));
	}
	PG_CATCH();
	{
		unlink(scratch);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

void
tde_wallet_keep_generation(const char *path)
{
	if (!is_kept(path, generation(path, 1)))
		make_newest(path, path, true);
}

void
tde_wallet_prune_generations(const char *path)
{
	remove_surplus(path, tde_wallet_generations + 1, WARNING);
}

void
tde_wallet_drop_generations(const char *path, const char *next)
{
	make_newest(next, path, false);
	remove_surplus(path, 2, ERROR);
}
