/*
 * tde_passphrase.c - where passphrases and other secrets come from: arguments in SQL, and the command that prints one.
 *
 * PostgreSQL runs ssl_passphrase_command through popen(), which can neither be cancelled nor timed out: a key service that
 * hangs would block every process that waits for the wallet.
 */
#include "postgres.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "tde_compat.h"
#include "tde_log.h"
#include "tde_passphrase.h"

typedef struct Child
{
	pid_t		pid;
	int			output;			/* the reading end of its standard output */
	TimestampTz deadline;
	char	   *passphrase;		/* what it has printed so far */
} Child;

/* In the child: no PostgreSQL function may be called here. */
static void
exec_shell(const char *command, int output)
{
	int			null = open("/dev/null", O_RDONLY);

	/* a group of its own, so that whatever it starts can be killed with it; SIGPIPE as programs expect it, not ignored */
	signal(SIGPIPE, SIG_DFL);
	if (setpgid(0, 0) < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
		_exit(127);
	execl("/bin/sh", "sh", "-c", command, (char *) NULL);
	_exit(127);
}

static bool
start_child(const char *command, int timeout, Child *child)
{
	int			ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
	{
		ereport(LOG, (errcode_for_file_access(), errmsg("could not create pipe for passphrase command: %m")));
		return false;
	}
	child->pid = fork();
	if (child->pid == 0)
		exec_shell(command, ends[1]);
	close(ends[1]);
	if (child->pid < 0)
	{
		close(ends[0]);
		ereport(LOG, (errmsg("could not start passphrase command: %m")));
		return false;
	}
	child->output = ends[0];
	child->deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), timeout);
	return true;
}

/* Wait for output or for a short while; false when the time is over. */
static bool
wait_child(Child *child, int events)
{
	long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), child->deadline);

	if (left <= 0)
		return false;
	if (events & WL_SOCKET_READABLE)
		WaitLatchOrSocket(MyLatch, events | WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, child->output, left,
						  PG_WAIT_EXTENSION);
	else
		WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, Min(left, 10), PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	return true;
}

/* Read all that the command prints; false when it is too much or takes too long. */
static bool
read_output(Child *child, char *buf, size_t room)
{
	size_t		used = 0;

	while (wait_child(child, WL_SOCKET_READABLE))
	{
		ssize_t		n = read(child->output, buf + used, room - used);

		if (n == 0)
		{
			buf[used] = '\0';
			return true;
		}
		if (n < 0 && errno != EINTR && errno != EAGAIN)
		{
			ereport(LOG, (errmsg("could not read from passphrase command: %m")));
			return false;
		}
		if (n > 0)
			used += n;
		if (used >= room)
		{
			ereport(LOG, (errmsg("passphrase command printed more than %zu bytes", room - 1)));
			return false;
		}
	}
	ereport(LOG, (errmsg("passphrase command did not finish in time"),
				  errhint("See tde_column.passphrase_timeout.")));
	return false;
}

/* Wait for the end of a command that has closed its output. */
static bool
reap_child(Child *child)
{
	int			status;
	pid_t		done;

	while ((done = waitpid(child->pid, &status, WNOHANG)) == 0 || (done < 0 && errno == EINTR))
	{
		if (!wait_child(child, 0))
		{
			ereport(LOG, (errmsg("passphrase command did not finish in time"),
						  errhint("See tde_column.passphrase_timeout.")));
			return false;
		}
	}
	child->pid = 0;
	if (done < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
	{
		ereport(LOG, (errmsg("passphrase command failed"), errdetail_internal("%s", wait_result_to_str(status))));
		return false;
	}
	return true;
}

/* Leave nothing behind: no descriptor, no process, no zombie. */
static void
end_child(Child *child)
{
	close(child->output);
	if (child->pid > 0)
	{
		kill(-child->pid, SIGKILL);
		kill(child->pid, SIGKILL);	/* if it did not come to have a group yet */
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

/* The session was canceled or is ending. */
static void
abandon_child(int code, Datum arg)
{
	Child	   *child = (Child *) DatumGetPointer(arg);

	end_child(child);
	explicit_bzero(child->passphrase, TDE_MAX_PASSPHRASE);
}

bool
tde_passphrase_run(const char *command, int timeout, char passphrase[TDE_MAX_PASSPHRASE])
{
	Child		child;
	bool		good;

	if (!start_child(command, timeout, &child))
		return false;
	child.passphrase = passphrase;
	/* not PG_TRY, which pg_terminate_backend() and a shutdown pass by */
	PG_ENSURE_ERROR_CLEANUP(abandon_child, PointerGetDatum(&child));
	{
		good = fcntl(child.output, F_SETFL, O_NONBLOCK) == 0 && read_output(&child, passphrase, TDE_MAX_PASSPHRASE) &&
			reap_child(&child);
	}
	PG_END_ENSURE_ERROR_CLEANUP(abandon_child, PointerGetDatum(&child));
	end_child(&child);

	if (!good)
		explicit_bzero(passphrase, TDE_MAX_PASSPHRASE);
	if (good)
	{
		size_t		line = strcspn(passphrase, "\r\n");

		explicit_bzero(passphrase + line, TDE_MAX_PASSPHRASE - line);
		if (line == 0)
		{
			ereport(LOG, (errmsg("passphrase command printed no passphrase")));
			good = false;
		}
	}
	return good;
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
