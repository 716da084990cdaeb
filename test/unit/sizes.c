/*
 * sizes.c - bytes per value beside Oracle's, for lengths 1 to 200 and a key id of one byte.
 *
 * Oracle TDE column encryption pads to the next multiple of 16 (a full block more where it fits), adds 20 bytes of
 * SHA-1 and 16 bytes of salt.  "sizes.t --markdown" prints the table for the documentation.
 */
#include "tap.h"
#include "crypto/value.h"

#define LONGEST	200

typedef struct Option
{
	const char *name;
	TdeSpec		spec;
	size_t		oracle;			/* Oracle's bytes besides the padded value */
} Option;

static const Option options[] = {
	{"salt, gcm", {TDE_AES256, TDE_CTR, TDE_GCM, true}, 36},
	{"nosalt, gcm", {TDE_AES256, TDE_CTR, TDE_GCM, false}, 20},
	{"salt, mac (SHA-1)", {TDE_AES256, TDE_CTR, TDE_SHA1, true}, 36},
	{"nosalt, mac (SHA-1)", {TDE_AES256, TDE_CTR, TDE_SHA1, false}, 20},
	{"salt, nomac", {TDE_AES256, TDE_CTR, TDE_NOMAC, true}, 16},
	{"nosalt, nomac", {TDE_AES256, TDE_CBC, TDE_NOMAC, false}, 0},
};

#define OPTIONS	((int) (sizeof(options) / sizeof(options[0])))

static size_t
ours(const Option *option, size_t size)
{
	return tde_header_sealed_size(option->spec, 1, size);
}

static size_t
oracles(const Option *option, size_t size)
{
	return (size / 16 + 1) * 16 + option->oracle;
}

/* Average bytes beyond the plaintext over a range of lengths. */
static double
average(const Option *option, size_t (*bytes)(const Option *, size_t), size_t from, size_t to)
{
	double		sum = 0;

	for (size_t size = from; size <= to; size++)
		sum += (double) (bytes(option, size) - size);
	return sum / (double) (to - from + 1);
}

static void
print_table(const char *prefix)
{
	static const size_t lengths[] = {1, 4, 8, 10, 15, 16, 17, 31, 32, 64, 100, 200};

	printf("%s| length |", prefix);
	for (int i = 0; i < OPTIONS; i++)
		printf(" %s |", options[i].name);
	printf("\n%s|---|", prefix);
	for (int i = 0; i < OPTIONS; i++)
		printf("---|");
	printf("\n");
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
	{
		printf("%s| %zu |", prefix, lengths[i]);
		for (int j = 0; j < OPTIONS; j++)
			printf(" %zu / %zu |", ours(&options[j], lengths[i]), oracles(&options[j], lengths[i]));
		printf("\n");
	}
	printf("%s| average overhead, 1-%d |", prefix, LONGEST);
	for (int j = 0; j < OPTIONS; j++)
		printf(" %.1f / %.1f |", average(&options[j], ours, 1, LONGEST), average(&options[j], oracles, 1, LONGEST));
	printf("\n");
}

int
main(int argc, char **argv)
{
	bool		close_enough = true;
	const Option *neither = &options[OPTIONS - 1];

	if (argc > 1 && strcmp(argv[1], "--markdown") == 0)
	{
		printf("Bytes per value, tde_column / Oracle:\n\n");
		print_table("");
		return 0;
	}
	diag("bytes per value, ours / Oracle's");
	print_table("# ");
	for (int i = 0; i < OPTIONS - 1; i++)
		ok(average(&options[i], ours, 1, LONGEST) < average(&options[i], oracles, 1, LONGEST),
		   "%s: smaller on average", options[i].name);
	for (size_t size = 1; size < 16; size++)
		close_enough = close_enough && ours(neither, size) <= oracles(neither, size) + 2;
	ok(close_enough, "%s: within two bytes at every length below 16", neither->name);
	ok(average(neither, ours, 16, LONGEST) < average(neither, oracles, 16, LONGEST),
	   "%s: smaller on average from 16 on", neither->name);

	/* what is foretold is what is written */
	for (int i = 0; i < OPTIONS; i++)
	{
		static const uint8_t zeros[LONGEST] = {0};
		TdeValueKey *key;
		bool		good = true;

		must(tde_value_key_new(&key, zeros, options[i].spec, zeros) == TDE_OK, "cannot make a value key");
		for (size_t size = 1; size <= LONGEST; size++)
		{
			uint8_t		value[LONGEST + 64];
			size_t		sealed = ours(&options[i], size);

			memset(value, 0, sizeof(value));
			good = good && tde_value_seal(key, 1, false, zeros, size, value) == TDE_OK;
			for (size_t j = sealed; j < sizeof(value); j++)
				good = good && value[j] == 0;
		}
		ok(good, "%s: nothing is written beyond the size in the table", options[i].name);
		tde_value_key_free(key);
	}
	return tap_done();
}
