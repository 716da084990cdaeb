/*
 * audit.c - what tde_audit() and the view tde.status cannot read in the catalogs: the library's version, and what is where
 * the wallet file should be.
 *
 * Nothing here needs a key, opens the wallet, or is an error because the file is not as it should be.
 */
#include "postgres.h"

#include <sys/stat.h>
#include <unistd.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "server/compat.h"
#include "server/counters.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_version);
PG_FUNCTION_INFO_V1(tde_wallet_file_facts);
PG_FUNCTION_INFO_V1(tde_all_encryptions);

/* The columns of tde_wallet_file_facts(). */
enum Fact
{
	FACT_PRESENT,
	FACT_PROBLEM,
	FACT_REGULAR,
	FACT_OWNED,
	FACT_MODE,
	FACT_OTHERS,
	FACT_INSIDE,
	FACT_FOLDER_OWNED,
	FACT_FOLDER_MODE,
	FACT_FOLDER_OTHERS,
	FACT_MATCHES_MEMORY,
	FACT_CLOSED_BY_USER,
	FACTS
};

typedef struct Facts
{
	Datum		values[FACTS];
	bool		nulls[FACTS];
} Facts;

static void
set_fact(Facts *facts, enum Fact fact, Datum value)
{
	facts->values[fact] = value;
	facts->nulls[fact] = false;
}

static Datum
mode_text(mode_t mode)
{
	return CStringGetTextDatum(psprintf("%04o", (unsigned) mode & 07777));
}

static void
look_at_folder(Facts *facts, const char *path)
{
	char		folder[MAXPGPATH];
	struct stat st;

	strlcpy(folder, path, sizeof(folder));
	get_parent_directory(folder);
	if (stat(folder, &st) < 0)
		return;
	/* root could replace the file in any folder */
	set_fact(facts, FACT_FOLDER_OWNED, BoolGetDatum(st.st_uid == geteuid() || st.st_uid == 0));
	set_fact(facts, FACT_FOLDER_MODE, mode_text(st.st_mode));
	/* where the sticky bit is set, whoever may write still cannot replace a file of another user */
	set_fact(facts, FACT_FOLDER_OTHERS, BoolGetDatum((st.st_mode & (S_IWGRP | S_IWOTH)) && !(st.st_mode & S_ISVTX)));
}

static void
compare_with_memory(Facts *facts, const char *path)
{
	uint8		in_memory[TDE_WALLET_DIGEST_SIZE];
	uint8		in_file[TDE_WALLET_DIGEST_SIZE];

	if (tde_wallet_digest(in_memory) && tde_wallet_file_digest(path, in_file, DEBUG1))
		set_fact(facts, FACT_MATCHES_MEMORY, BoolGetDatum(memcmp(in_memory, in_file, sizeof(in_file)) == 0));
}

static void
look_at_file(Facts *facts, const char *path)
{
	struct stat st;

	set_fact(facts, FACT_INSIDE, BoolGetDatum(tde_wallet_file_is_inside(path)));
	look_at_folder(facts, path);
	if (stat(path, &st) < 0)
	{
		int			save_errno = errno;

		set_fact(facts, FACT_PROBLEM, CStringGetTextDatum(strerror(save_errno)));
		if (save_errno == ENOENT || save_errno == ENOTDIR)
			set_fact(facts, FACT_PRESENT, BoolGetDatum(false));
		return;
	}
	set_fact(facts, FACT_PRESENT, BoolGetDatum(true));
	set_fact(facts, FACT_REGULAR, BoolGetDatum(S_ISREG(st.st_mode)));
	set_fact(facts, FACT_OWNED, BoolGetDatum(st.st_uid == geteuid()));
	set_fact(facts, FACT_MODE, mode_text(st.st_mode));
	set_fact(facts, FACT_OTHERS, BoolGetDatum((st.st_mode & (S_IRWXG | S_IRWXO)) != 0));
	/* to open a pipe would wait for somebody to write into it */
	if (S_ISREG(st.st_mode))
		compare_with_memory(facts, path);
}

/*
 * tde_wallet_file_facts(OUT present, problem, regular, owned, mode, others, inside, folder_owned, folder_mode,
 * folder_others, matches_memory, closed_by_user) - all but the last NULL if no file is configured.  present NULL: could not be
 * told, problem says why.  others: whoever else may read or write the file, or put another one into the folder.  matches_memory
 * NULL: the wallet is closed, or the file cannot be read.
 */
Datum
tde_wallet_file_facts(PG_FUNCTION_ARGS)
{
	Facts		facts;
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	memset(facts.nulls, true, sizeof(facts.nulls));
	if (tde_wallet_file != NULL && tde_wallet_file[0] != '\0')
		look_at_file(&facts, tde_wallet_file);
	set_fact(&facts, FACT_CLOSED_BY_USER, BoolGetDatum(tde_wallet_info().closed_by_user));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), facts.values, facts.nulls));
}

/* tde_version() returns text - the version of the library, which need not be that of the extension in this database. */
Datum
tde_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(TDE_VERSION));
}

/* tde_all_encryptions() returns int8 - values encrypted under all data keys of all databases since the server started. */
Datum
tde_all_encryptions(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(tde_counters_read_all());
}
