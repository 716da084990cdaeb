/*
 * killer.c - preloaded into a server (LD_PRELOAD), kills a process with SIGKILL before or after its Nth system call on a file in
 * the folder KILLER_FOLDER: each point at which a crash can meet the writing of a wallet.
 *
 * KILLER_PLAN names a file that holds "N before|after"; without it nothing is killed.  Calls are counted per process.  Files
 * elsewhere are not synchronized to disk: a killed process loses nothing of them, and recovery would spend its time on it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int	calls = 0;

static int
is_ours(const char *path)
{
	const char *folder = getenv("KILLER_FOLDER");

	return folder && strncmp(path, folder, strlen(folder)) == 0;
}

/* N of the plan, and before or after; 0: there is none. */
static int
planned(char when[16])
{
	const char *plan = getenv("KILLER_PLAN");
	FILE	   *file = plan ? fopen(plan, "r") : NULL;
	int			n = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%d %15s", &n, when) != 2)
		n = 0;
	fclose(file);
	return n;
}

static void
meet(const char *path, const char *now)
{
	int			save_errno = errno;
	char		when[16];
	int			n = is_ours(path) ? planned(when) : 0;

	if (n != 0 && strcmp(now, "before") == 0)
		calls++;
	if (n != 0 && calls == n && strcmp(now, when) == 0)
		kill(getpid(), SIGKILL);
	errno = save_errno;
}

static void
path_of(int fd, char path[PATH_MAX])
{
	char		link[64];
	ssize_t		length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_MAX - 1);
	path[length < 0 ? 0 : length] = '\0';
}

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))
#define ON_PATH(path, call) do { __typeof__(call) result; meet(path, "before"); result = call; meet(path, "after"); return result; } while (0)
#define ON_FD(fd, call) do { char path[PATH_MAX]; path_of(fd, path); ON_PATH(path, call); } while (0)

int rename(const char *from, const char *to) { ON_PATH(to, REAL(rename)(from, to)); }
int link(const char *from, const char *to) { ON_PATH(to, REAL(link)(from, to)); }
int unlink(const char *path) { ON_PATH(path, REAL(unlink)(path)); }
ssize_t write(int fd, const void *bytes, size_t size) { ON_FD(fd, REAL(write)(fd, bytes, size)); }

int
fsync(int fd)
{
	char		path[PATH_MAX];

	path_of(fd, path);
	if (!is_ours(path))
		return 0;
	ON_PATH(path, REAL(fsync)(fd));
}

int fdatasync(int fd) { return fsync(fd); }

#define OPEN(name) \
int name(const char *path, int flags, ...) \
{ \
	va_list		args; \
	mode_t		mode; \
\
	va_start(args, flags); \
	mode = (flags & O_CREAT) ? va_arg(args, mode_t) : 0; \
	va_end(args); \
	ON_PATH(path, REAL(name)(path, flags, mode)); \
}

OPEN(open)
OPEN(open64)
