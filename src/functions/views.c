/*
 * views.c - the functions under the views tde.encrypted_columns, tde.wallet, tde.keys, tde.stats and tde.status.
 *
 * They need no key, and none decrypts: monitoring reads the views also while the wallet is closed.
 */
#include "postgres.h"

#include <sys/stat.h>
#include <unistd.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/uuid.h"

#include "keys/limits.h"
#include "server/compat.h"
#include "server/counters.h"
#include "type/type.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_wallet_status);
PG_FUNCTION_INFO_V1(tde_stats_counters);
PG_FUNCTION_INFO_V1(tde_key_encryptions);
PG_FUNCTION_INFO_V1(tde_type_base_and_tag);
PG_FUNCTION_INFO_V1(tde_type_spec);
PG_FUNCTION_INFO_V1(tde_version);
PG_FUNCTION_INFO_V1(tde_wallet_file_facts);
PG_FUNCTION_INFO_V1(tde_all_encryptions);

/* ---- views ---- */

/* Returns a row of the function's OUT parameters. */
static Datum
return_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/* Oracle's words, as in V$ENCRYPTION_WALLET. */
static const char *
status_word(const TdeWalletInfo *info)
{
	if (info->status == TDE_WALLET_OPEN)
		return "OPEN";
	if (tde_wallet_file == NULL || tde_wallet_file[0] == '\0')
		return "NOT_AVAILABLE";
	return "CLOSED";
}

/*
 * tde_wallet_status(OUT file, status, instance_wide, opened_at, master_keys, current_master_key, owner, may_change) - owner: the server
 * that may change it; NULL if nobody has changed it yet since wallets have one.
 */
Datum
tde_wallet_status(PG_FUNCTION_ARGS)
{
	TdeWalletInfo info = tde_wallet_info();
	bool		open = info.status == TDE_WALLET_OPEN;
	Datum		values[8];
	bool		nulls[8] = {0};
	pg_uuid_t	uuid;

	memcpy(uuid.data, info.current_master, UUID_LEN);
	values[0] = CStringGetTextDatum(tde_wallet_file ? tde_wallet_file : "");
	values[1] = CStringGetTextDatum(status_word(&info));
	values[2] = BoolGetDatum(info.instance_wide);
	values[3] = TimestampTzGetDatum(info.opened_at);
	values[4] = Int32GetDatum(info.master_keys);
	values[5] = UUIDPGetDatum(&uuid);
	values[6] = CStringGetTextDatum(info.owner.name);
	values[7] = BoolGetDatum(tde_server_owns(&info.owner));
	nulls[3] = nulls[4] = nulls[5] = nulls[7] = !open;
	nulls[6] = !open || info.owner.name[0] == '\0';
	return return_row(fcinfo, values, nulls);
}

/* tde_stats_counters(OUT encryptions, decryptions, key_setups, key_loads) - of this backend. */
Datum
tde_stats_counters(PG_FUNCTION_ARGS)
{
	Datum		values[4];
	bool		nulls[4] = {0};

	values[0] = Int64GetDatum(tde_stats.encryptions);
	values[1] = Int64GetDatum(tde_stats.decryptions);
	values[2] = Int64GetDatum(tde_stats.key_setups);
	values[3] = Int64GetDatum(tde_stats.key_loads);
	return return_row(fcinfo, values, nulls);
}

/* tde_key_encryptions(id int4) returns int8 - values that a data key of this database has encrypted since the server started. */
Datum
tde_key_encryptions(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(tde_limits_encrypted(PG_GETARG_INT32(0)));
}

/* tde_type_base(type oid, OUT base regtype, OUT tag uuid) - NULLs if it is not an encrypted type, or incomplete. */
Datum
tde_type_base_and_tag(PG_FUNCTION_ARGS)
{
	Oid			base;
	pg_uuid_t	tag;
	Datum		values[2];
	bool		nulls[2] = {true, true};

	if (tde_type_base(PG_GETARG_OID(0), &base, tag.data))
	{
		values[0] = ObjectIdGetDatum(base);
		values[1] = UUIDPGetDatum(&tag);
		memset(nulls, 0, sizeof(nulls));
	}
	return return_row(fcinfo, values, nulls);
}

/*
 * tde_type_spec(type oid, typmod int4, OUT base_type, cipher, mode, salt, mac, key_slot) - what a declared type means; all
 * NULL if it is not an encrypted type (or an array of one), and all but base_type NULL if it is declared bare.
 */
Datum
tde_type_spec(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	int32		typmod = PG_GETARG_INT32(1);
	Oid			element = get_element_type(oid);
	TdeType    *type = tde_type_find(OidIsValid(element) ? element : oid);
	Datum		values[6];
	bool		nulls[6] = {true, true, true, true, true, true};

	if (type)
	{
		TdeModifiers mods = {{0}};

		if (typmod >= 0)
			mods = tde_modifiers_unpack(type->layout, typmod);
		values[0] = CStringGetTextDatum(format_type_with_typemod(type->base, typmod >= 0 ? mods.base_typmod : -1));
		nulls[0] = false;
		if (typmod >= 0)
		{
			values[1] = CStringGetTextDatum(tde_spec_cipher_word(mods.spec));
			values[2] = CStringGetTextDatum(tde_spec_mode_word(mods.spec));
			values[3] = BoolGetDatum(mods.spec.salted);
			values[4] = CStringGetTextDatum(mods.spec.mac == TDE_SHA1 ? "sha1" : tde_spec_mac_word(mods.spec));
			values[5] = Int32GetDatum(mods.slot);
			memset(nulls, 0, sizeof(nulls));
		}
	}
	return return_row(fcinfo, values, nulls);
}

/* ---- what tde_audit() and the view tde.status cannot read in the catalogs ---- */

/* The columns of tde_wallet_file_facts(), in their order. */
enum Fact
{
	FACT_PRESENT,				/* boolean: there is a file */
	FACT_PROBLEM,				/* text: why it could not be looked at */
	FACT_REGULAR,				/* boolean: it is no folder, pipe or the like */
	FACT_OWNED,					/* boolean: by the user that runs the server */
	FACT_MODE,					/* text: as of chmod */
	FACT_OTHERS,				/* boolean: group or others have any right to it */
	FACT_INSIDE,				/* boolean: it is in the data directory, and so in each backup of that */
	FACT_FOLDER_OWNED,			/* boolean: by that user or root */
	FACT_FOLDER_MODE,			/* text: as of chmod */
	FACT_FOLDER_OTHERS,			/* boolean: group or others could put another file there */
	FACT_MATCHES_MEMORY,		/* boolean: the open wallet is the one in the file */
	FACT_CLOSED_BY_USER,		/* boolean: by tde_wallet_close(), so that no command opens it */
	FACTS						/* their number */
};

/* A row of tde_wallet_file_facts(); all are NULL at first. */
typedef struct Facts
{
	Datum		values[FACTS];
	bool		nulls[FACTS];
} Facts;

/* Facts are NULL until they are set: what cannot be told must not look like a good answer. */
static void
set_fact(Facts *facts, enum Fact fact, Datum value)
{
	facts->values[fact] = value;
	facts->nulls[fact] = false;
}

/* Returns the mode as chmod takes it: 0600. */
static Datum
mode_text(mode_t mode)
{
	return CStringGetTextDatum(psprintf("%04o", (unsigned) mode & 07777));
}

/* Who may write into the folder can put another file in the wallet's place. */
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

/* A file that was replaced while the wallet is open is noticed here, and not only at the next start, which would read it. */
static void
compare_with_memory(Facts *facts, const char *path)
{
	uint8		in_memory[TDE_WALLET_DIGEST_SIZE];
	uint8		in_file[TDE_WALLET_DIGEST_SIZE];

	if (tde_wallet_digest(in_memory) && tde_wallet_file_digest(path, in_file, DEBUG1))
		set_fact(facts, FACT_MATCHES_MEMORY, BoolGetDatum(memcmp(in_memory, in_file, sizeof(in_file)) == 0));
}

/* By stat(), which needs no right to read the file.  Where that fails, the reason is told; only two of them say that there is no file. */
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

	memset(facts.nulls, true, sizeof(facts.nulls));
	if (tde_wallet_file != NULL && tde_wallet_file[0] != '\0')
		look_at_file(&facts, tde_wallet_file);
	set_fact(&facts, FACT_CLOSED_BY_USER, BoolGetDatum(tde_wallet_info().closed_by_user));
	return return_row(fcinfo, facts.values, facts.nulls);
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
	PG_RETURN_INT64(tde_counters_read_all() + tde_limits_untold());
}
