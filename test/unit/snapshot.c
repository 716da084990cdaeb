/*
 * snapshot.c - random bytes when a snapshot of the machine is resumed twice: what was drawn ahead is gone with its epoch, and what comes
 * afterwards differs.
 *
 * A copy of the process is made by a system call of which neither the C library nor OpenSSL hears, and getpid() always answers the same: so nothing
 * in the two differs but what the kernel gives them, as in two virtual machines.
 */
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "crypto/gcm.h"
#include "crypto/primitives.h"
#include "crypto/spec.h"

#define NONCES		400			/* of each kind */
#define SIZE		14

static TdeGcmKey key;
static const TdeSpec spec = {TDE_AES256, TDE_CTR, TDE_GCM, true};

/* What draws: values of a key that draws salts ahead, a salt alone, a data key. */
typedef struct Drawn
{
	uint8_t		nonces[NONCES][SIZE];
	uint8_t		salts[NONCES][SIZE];
	uint8_t		keys[2][SIZE];
} Drawn;

pid_t
getpid(void)
{
	return 4711;
}

static void
seal(uint8_t *nonce)
{
	uint8_t		body[TDE_GCM_NONCE + 10 + 16];

	must(tde_gcm_seal(&key, tde_spec_byte(spec, false), (const uint8_t *) "0123456789", 10, body) == TDE_OK, "no value");
	memcpy(nonce, body, TDE_GCM_NONCE);
}

static void
draw(Drawn *drawn)
{
	memset(drawn, 0, sizeof(*drawn));
	for (int i = 0; i < NONCES; i++)
	{
		seal(drawn->nonces[i]);
		must(tde_random_salt(drawn->salts[i], SIZE) == TDE_OK, "no salt");
	}
	for (int i = 0; i < 2; i++)
		must(tde_random_key(drawn->keys[i], SIZE) == TDE_OK, "no key");
}

static int
compare(const void *a, const void *b)
{
	return memcmp(a, b, SIZE);
}

/* How many of the first ones, all different, are among the second ones, too? */
static int
twice(uint8_t (*first)[SIZE], uint8_t (*second)[SIZE], size_t count)
{
	int			found = 0;

	qsort(second, count, SIZE, compare);
	for (size_t i = 0; i < count; i++)
		found += bsearch(first[i], second, count, SIZE, compare) != NULL;
	return found;
}

#ifdef SYS_clone
/* What this process and a copy of it draw. */
static void
draw_in_both(Drawn *here, Drawn *there)
{
	int			fds[2];
	long		pid;
	int			status;
	size_t		got = 0;

	must(pipe(fds) == 0, "no pipe");
	fflush(stdout);
#ifdef __s390__
	/* alone in having the stack first */
	pid = syscall(SYS_clone, 0, SIGCHLD, 0, 0, 0);
#else
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
	must(pid >= 0, "no copy");
	if (pid == 0)
	{
		draw(here);
		for (size_t sent = 0; sent < sizeof(Drawn);)
		{
			ssize_t		n = write(fds[1], (uint8_t *) here + sent, sizeof(Drawn) - sent);

			if (n <= 0)
				_exit(1);
			sent += (size_t) n;
		}
		_exit(0);
	}
	close(fds[1]);
	draw(here);
	while (got < sizeof(Drawn))
	{
		ssize_t		n = read(fds[0], (uint8_t *) there + got, sizeof(Drawn) - got);

		must(n > 0, "the copy sends nothing");
		got += (size_t) n;
	}
	close(fds[0]);
	must(waitpid((pid_t) pid, &status, 0) == pid && status == 0, "the copy failed");
}

static void
test_copies(void)
{
	static Drawn here,
				there;
	uint8_t		nonce[SIZE];

	/* half used, as by a statement that is running: this is what a copy repeats, and shows that the copies are ones */
	draw(&here);
	draw_in_both(&here, &there);
	ok(twice(here.nonces, there.nonces, NONCES) > 0 && twice(here.salts, there.salts, NONCES) > 0, "copies draw alike in an epoch");

	for (int i = 0; i < 3; i++)
	{
		seal(nonce);
		if (i < 2)
			tde_random_drop();
		else
			tde_random_expire();
		draw_in_both(&here, &there);
		ok(twice(here.nonces, there.nonces, NONCES) == 0, "after an epoch copies draw different nonces");
		ok(twice(here.salts, there.salts, NONCES) == 0, "and salts");
		ok(twice(here.keys, there.keys, 2) == 0, "and keys");
	}
}
#endif

static bool
is_zero(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

static int	draws = 0;

static void
note_draw(void)
{
	draws++;
}

static void
test_drop(void)
{
	TdeAhead   *ahead = &key.ahead;
	uint8_t		nonce[SIZE];
	uint8_t		next[SIZE];

	tde_random_draws = note_draw;
	tde_random_drop();
	ok(!tde_random_is_ahead, "nothing is drawn ahead after a drop");
	for (int i = 0; i < 1000; i++)
		seal(nonce);
	ok(draws == 1 && tde_random_is_ahead, "an epoch begins once, with the first bytes");
	if (!key.own)
	{
		diag("nothing is drawn ahead by keys where OpenSSL does all");
		return;
	}
	ok(ahead->left > 0 && !is_zero(ahead->streams, sizeof(ahead->streams)), "a key has salts drawn ahead");
	memcpy(next, ahead->salts + (ahead->left - 1) * TDE_GCM_NONCE, TDE_GCM_NONCE);
	seal(nonce);
	ok(memcmp(nonce, next, TDE_GCM_NONCE) == 0, "which it uses");
	while (ahead->left == 0)
		seal(nonce);
	memcpy(next, ahead->salts + (ahead->left - 1) * TDE_GCM_NONCE, TDE_GCM_NONCE);
	tde_random_expire();
	seal(nonce);
	ok(memcmp(nonce, next, TDE_GCM_NONCE) != 0 && draws == 2, "but not when the epoch is over");
	tde_random_drop();
	ok(ahead->left == 0 && is_zero(ahead->streams, sizeof(ahead->streams)) && is_zero(ahead->salts, sizeof(ahead->salts)), "dropped ones are cleansed");
	seal(nonce);
	tde_gcm_free(&key);
	tde_random_drop();
	ok(!tde_random_is_ahead, "keys are freed with what they have drawn ahead");
}

int
main(void)
{
	uint8_t		secret[32];

	random_fill(secret, sizeof(secret));
	must(tde_gcm_init(&key, spec, secret, secret) == TDE_OK, "no key");
#ifdef SYS_clone
	test_copies();
#endif
	test_drop();
	return tap_done();
}
