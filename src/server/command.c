/*
 * command.c - shell commands that the DBA has set: run with a time limit, and cancelled with the statement.
 *
 * PostgreSQL runs ssl_passphrase_command and archive_command through popen() and system(), which can neither be cancelled nor timed
 * out: a key service that hangs would block every process that waits for the wallet.
 */
#include "postgres.h"

#include <fcntl.h>
#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "server/command.h"
#include "server/compat.h"

/* The C library's, where it has one; otherwise more than a server process has open, since descriptors are given out from below. */
#if defined(__FreeBSD__) || __GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 34)
#define CLOSE_FROM(first)	closefrom(first)
#else
#define MAX_DESCRIPTORS		65536
#define CLOSE_FROM(first)	do { for (int fd = (first); fd < MAX_DESCRIPTORS; fd++) close(fd); } while (0)
#endif

/* A command that runs. */
typedef struct Child
{
	pid_t		pid;			/* of the first child, whose group is the command's; 0: it has ended */
	int			output;			/* the reading end of its standard output */
	TimestampTz deadline;
	const TdeCommand *command;
} Child;

/*
 * In the children no PostgreSQL function may be called.  The first one is there for one purpose: when the server process is killed, the
 * kernel tells it, and it takes with it whatever the command has started.
 */

static pid_t server;

/* The first child's handler of SIGTERM, which the kernel sends when the server process is gone. */
static void
kill_group(int signal_number)
{
	/* not if the command means its own processes with it, and itself goes on */
	if (getppid() != server)
		kill(0, SIGKILL);
}

static void
exec_shell(const char *text)
{
	/* as programs expect them */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	execl("/bin/sh", "sh", "-c", text, (char *) NULL);
	_exit(127);
}

/* End with what the shell has ended with, which is what the server process waits for. */
static void
end_like(pid_t shell)
{
	int			status = 0;
	pid_t		done;

	while ((done = waitpid(shell, &status, 0)) < 0 && errno == EINTR)
		;
	/* as shells say it: to die by the signal could write what this process has of the server's memory to a core file */
	if (done == shell && WIFSIGNALED(status))
		_exit(128 + WTERMSIG(status));
	_exit(done == shell && WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

/* The server's handlers, which set its latch, are none for its child; what it has open is none of the command's. */
static void
leave_server(int output)
{
	static const int handled[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD};
	int			null = open("/dev/null", O_RDONLY);

	for (size_t i = 0; i < lengthof(handled); i++)
		signal(handled[i], SIG_DFL);
	/* a group of its own, so that whatever it starts can be killed with it; before that, the group is the server process's */
	if (setpgid(0, 0) < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
		_exit(127);
	signal(SIGTERM, kill_group);
	CLOSE_FROM(STDERR_FILENO + 1);
}

/*
 * What the first child does.  The second fork is the shell: the first one has to live as long as that does, to take its group along.  It is not
 * dumpable, since it has a copy of the server's memory.
 */
static void
supervise(const char *text, int output)
{
	pid_t		shell;

	leave_server(output);
#ifdef __linux__
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != server)
		_exit(127);
#endif
	shell = fork();
	if (shell == 0)
		exec_shell(text);
#ifdef __linux__
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		_exit(127);
#endif
	/* the end of the output is that of what the shell has started */
	close(STDOUT_FILENO);
	end_like(shell);
}

/* Starts the command.  Returns false, with a reason in the log, if there is no child; nothing is left of it then. */
static bool
start_child(const TdeCommand *command, Child *child)
{
	int			ends[2];

	server = getpid();
	if (pipe2(ends, O_CLOEXEC) < 0)
	{
		ereport(LOG, (errcode_for_file_access(), errmsg("could not create pipe for %s: %m", command->what)));
		return false;
	}
	child->pid = fork();
	if (child->pid == 0)
		supervise(command->text, command->output ? ends[1] : STDERR_FILENO);
	close(ends[1]);
	if (child->pid < 0)
	{
		close(ends[0]);
		ereport(LOG, (errmsg("could not start %s: %m", command->what)));
		return false;
	}
	child->command = command;
	child->output = ends[0];
	child->deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), command->timeout);
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

static void
report_late(const TdeCommand *command)
{
	ereport(LOG, (errmsg("%s did not finish in time", command->what), errhint("See %s.", command->timeout_setting)));
}

/* Read all that the command prints; false when it is too much or takes too long. */
static bool
read_output(Child *child)
{
	const TdeCommand *command = child->command;
	size_t		used = 0;

	while (wait_child(child, WL_SOCKET_READABLE))
	{
		ssize_t		n = read(child->output, command->output + used, command->room - used);

		if (n == 0)
		{
			command->output[used] = '\0';
			return true;
		}
		if (n < 0 && errno != EINTR && errno != EAGAIN)
		{
			ereport(LOG, (errmsg("could not read from %s: %m", command->what)));
			return false;
		}
		if (n > 0)
			used += n;
		if (used >= command->room)
		{
			ereport(LOG, (errmsg("%s printed more than %zu bytes", command->what, command->room - 1)));
			return false;
		}
	}
	report_late(command);
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
			report_late(child->command);
			return false;
		}
	}
	child->pid = 0;
	if (done < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
	{
		ereport(LOG, (errmsg("%s failed", child->command->what), errdetail_internal("%s", wait_result_to_str(status))));
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
	if (child->command->output)
		explicit_bzero(child->command->output, child->command->room);
}

bool
tde_command_run(const TdeCommand *command)
{
	Child		child;
	bool		good;

	if (!start_child(command, &child))
		return false;
	/* not PG_TRY, which pg_terminate_backend() and a shutdown pass by */
	PG_ENSURE_ERROR_CLEANUP(abandon_child, PointerGetDatum(&child));
	{
		good = (command->output == NULL || (fcntl(child.output, F_SETFL, O_NONBLOCK) == 0 && read_output(&child))) &&
			reap_child(&child);
	}
	PG_END_ENSURE_ERROR_CLEANUP(abandon_child, PointerGetDatum(&child));
	end_child(&child);
	if (!good && command->output)
		explicit_bzero(command->output, command->room);
	return good;
}
