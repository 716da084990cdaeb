/*
 * random.c - salts: never the same after fork(), and as random as a simple look can tell.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "crypto/primitives.h"
#include "crypto/spec.h"

#define SALTS		1000
#define CHILDREN	3
#define STATISTICS	200000

static int
compare(const void *a, const void *b)
{
	return memcmp(a, b, 14);
}

static void
draw(uint8_t (*salts)[14], int count)
{
	for (int i = 0; i < count; i++)
		must(tde_random_salt(salts[i], 14) == TDE_OK, "no salt");
}

/* Are all salts different? */
static bool
distinct(uint8_t (*salts)[14], size_t count)
{
	qsort(salts, count, 14, compare);
	for (size_t i = 1; i < count; i++)
		if (memcmp(salts[i - 1], salts[i], 14) == 0)
			return false;
	return true;
}

/* Children and parent draw from a pool that was half full at fork(). */
static void
test_fork(void)
{
	static uint8_t salts[SALTS * (CHILDREN + 2)][14];
	int			fds[2];

	draw(salts, SALTS + 7);		/* leaves a part of the pool unused */
	for (int child = 0; child < CHILDREN; child++)
	{
		pid_t		pid;
		size_t		got = 0;
		int			status;
		uint8_t    *into = salts[SALTS * (child + 1)];

		must(pipe(fds) == 0, "no pipe");
		fflush(stdout);
		pid = fork();
		must(pid >= 0, "no fork");
		if (pid == 0)
		{
			static uint8_t mine[SALTS][14];

			draw(mine, SALTS);
			for (size_t sent = 0; sent < sizeof(mine);)
			{
				ssize_t		n = write(fds[1], (uint8_t *) mine + sent, sizeof(mine) - sent);

				if (n <= 0)
					_exit(1);
				sent += (size_t) n;
			}
			_exit(0);
		}
		close(fds[1]);
		while (got < SALTS * 14)
		{
			ssize_t		n = read(fds[0], into + got, SALTS * 14 - got);

			must(n > 0, "the child sends no salts");
			got += (size_t) n;
		}
		close(fds[0]);
		must(waitpid(pid, &status, 0) == pid && status == 0, "the child failed");
	}
	draw(salts + SALTS * (CHILDREN + 1), SALTS);
	ok(distinct(salts, SALTS * (CHILDREN + 2)), "salts of parent and children all differ");
}

static void
test_statistics(void)
{
	long		ones = 0;
	long		bytes[256] = {0};
	double		chi2 = 0;
	const double expected = STATISTICS * 16.0 / 256;

	for (int i = 0; i < STATISTICS; i++)
	{
		uint8_t		salt[16];

		must(tde_random_salt(salt, 16) == TDE_OK, "no salt");
		for (int j = 0; j < 16; j++)
		{
			ones += __builtin_popcount(salt[j]);
			bytes[salt[j]]++;
		}
	}
	for (int i = 0; i < 256; i++)
		chi2 += (bytes[i] - expected) * (bytes[i] - expected) / expected;
	diag("%.4f of the bits are ones; chi squared of the bytes is %.0f (255 degrees of freedom)",
		 ones / (STATISTICS * 128.0), chi2);
	/* nine standard deviations each: a good generator fails once in 10^18 runs */
	ok(ones > STATISTICS * 64.0 * 0.9982 && ones < STATISTICS * 64.0 * 1.0018, "half of the bits are ones");
	ok(chi2 > 100 && chi2 < 460, "all bytes are about as frequent");
}

static void
test_sizes(void)
{
	static uint8_t salts[20000][14];
	uint8_t		salt[TDE_MAX_SALT + 1];
	bool		good = true;

	/* 8, 14 and 16 in turn meet every position at the end of the pool */
	for (int i = 0; i < 20000; i++)
	{
		static const size_t sizes[] = {8, 14, 16};
		size_t		size = sizes[random64() % 3];

		memset(salt, 0, sizeof(salt));
		good = good && tde_random_salt(salt, size) == TDE_OK;
		for (size_t j = size; j < sizeof(salt); j++)
			good = good && salt[j] == 0;
		memcpy(salts[i], salt, 14);
	}
	ok(good, "as many bytes as asked for are written");
	ok(distinct(salts, 20000), "20000 salts of all sizes differ");
	ok(tde_random_salt(salt, TDE_MAX_SALT + 1) == TDE_E_CRYPTO, "no salt is longer than the longest");
}

static void
test_keys(void)
{
	uint8_t		one[32] = {0},
				two[32] = {0};

	ok(tde_random_key(one, 32) == TDE_OK && tde_random_key(two, 32) == TDE_OK && memcmp(one, two, 32) != 0,
	   "two random keys differ");
}

int
main(void)
{
	test_fork();
	test_statistics();
	test_sizes();
	test_keys();
	return tap_done();
}
