/*
 * wallet_functions.c - the SQL functions that create, open and close the wallet and make the first keys.
 *
 * They are functions and not procedures: pg_stat_statements of PostgreSQL 15 keeps the text of utility statements with its
 * literals, and CALL is one.
 *
 * Passphrases are in buffers of the stack, which are cleansed however a function ends.  A statement that gives one as an argument is kept out of the
 * log (wallet/passphrase.h).
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"

#include "crypto/primitives.h"
#include "ddl/declare.h"
#include "keys/required.h"
#include "keys/table.h"
#include "keys/table_rows.h"
#include "maintenance/purge.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/statement.h"
#include "wallet/passphrase.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_wallet_create);
PG_FUNCTION_INFO_V1(tde_wallet_open);
PG_FUNCTION_INFO_V1(tde_wallet_save);
PG_FUNCTION_INFO_V1(tde_wallet_take_over);
PG_FUNCTION_INFO_V1(tde_wallet_close);
PG_FUNCTION_INFO_V1(tde_wallet_change_passphrase);
PG_FUNCTION_INFO_V1(tde_wallet_backup);
PG_FUNCTION_INFO_V1(tde_ensure_keys);

/* Bytes of a passphrase that we make; written as twice as many hexadecimal digits. */
#define GENERATED_SIZE 32

/* Tells by a NOTICE that some could not be made.  A standby gets them from its primary, so that nothing is said there. */
static void
make_first_keys(void)
{
	if (!tde_ddl_ensure_declared_keys() && !RecoveryInProgress())
		ereport(NOTICE,
				(errmsg("data keys of this database could not be made yet"),
				 errdetail("The wallet is not open, or the transaction is read-only."),
				 errhint("Run tde_wallet_open() in this database before you write encrypted values.")));
}

/*
 * The wallet is there, and the passphrase that the statement is about to return is nowhere else.  So it does not fail: keys that cannot be made now
 * can be made later.  The subtransaction takes back what an error has left.
 */
static void
make_first_keys_or_warn(void)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		MemoryContextSwitchTo(context);
		make_first_keys();
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		ereport(WARNING,
				(errcode(error->sqlerrcode),
				 errmsg("data keys of this database could not be made yet: %s", error->message),
				 errhint("Run tde_wallet_open() in this database before you write encrypted values.")));
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
}

/* 256 random bits, as hexadecimal digits, which every terminal and every script can pass on. */
static void
generate_passphrase(char passphrase[TDE_MAX_PASSPHRASE])
{
	uint8		bytes[GENERATED_SIZE];

	tde_check(tde_random_key(bytes, sizeof(bytes)));
	passphrase[hex_encode((const char *) bytes, sizeof(bytes), passphrase)] = '\0';
	OPENSSL_cleanse(bytes, sizeof(bytes));
}

/* Puts the passphrase of a new wallet into the buffer, and returns where it comes from.  Throws if it is too weak. */
static TdePassphraseSource
new_passphrase(FunctionCallInfo fcinfo, char passphrase[TDE_MAX_PASSPHRASE])
{
	TdePassphraseSource source = TDE_PASSPHRASE_PRINTED;

	if (tde_passphrase_is_given(fcinfo, 0))
	{
		tde_passphrase_take(fcinfo, 0, "passphrase", passphrase);
		source = TDE_PASSPHRASE_GIVEN;
	}
	else if (!tde_wallet_ask_command(passphrase))
	{
		generate_passphrase(passphrase);
		source = TDE_PASSPHRASE_GENERATED;
	}
	tde_wallet_check_new_passphrase(passphrase, source);
	return source;
}

/* A visitor of data keys.  arg: counts those that are not destroyed. */
static void
note_key(const TdeDataKey *row, void *arg)
{
	if (row->state != TDE_STATE_DESTROYED)
		(*(int *) arg)++;
}

/*
 * A new wallet would not hold the master keys that are open, nor those of data keys that are there, of this database and of others.  confirm: the
 * user says that they are lost, "lose 3 data keys", or NULL.  Throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE unless it names just that loss.
 */
static void
refuse_other_wallet(const char *confirm)
{
	int			count = 0;
	int			unknown;
	const char *loss;
	StringInfoData where;

	tde_wallet_refuse_open();
	initStringInfo(&where);
	if (OidIsValid(tde_keys_relid()))
		tde_keys_scan(note_key, &count);
	if (count > 0)
		appendStringInfo(&where, "database \"%s\": %d data %s", get_database_name(MyDatabaseId), count, count == 1 ? "key" : "keys");
	count += tde_purge_other_databases(&where, &unknown);
	loss = psprintf("lose %d data %s", count, count == 1 ? "key" : "keys");
	if (unknown > 0)
		loss = psprintf("%s and those of %d %s", loss, unknown, unknown == 1 ? "database" : "databases");
	if (count + unknown > 0 && (confirm == NULL || strcmp(confirm, loss) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 count > 0 ? errmsg("this server has data keys wrapped by another wallet") :
				 errmsg("this server may have data keys wrapped by another wallet"),
				 errdetail("%s", where.data),
				 errhint("Put that wallet back at tde_column.wallet_file, from its backup, and open it with "
						 "tde_wallet_open().  If it is lost for good, the encrypted data is lost, too, except under keys "
						 "that tde_export_keys() has saved.  To make a new wallet nevertheless, run: SELECT "
						 "tde_wallet_create(..., confirm => '%s');", loss)));
}

/* Returns the second argument, of the functions that have one; NULL if it is not given. */
static char *
confirmation(FunctionCallInfo fcinfo)
{
	return PG_NARGS() < 2 || PG_ARGISNULL(1) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(1));
}

/*
 * tde_wallet_create(passphrase text DEFAULT NULL [, confirm text]) returns text - make the wallet file with a first master
 * key, open it and make this database's keys.
 *
 * An error where data keys are, unless confirm names that loss.  Without a passphrase it is the one that COPY has brought, or that the
 * passphrase command prints, which opens the wallet from now on; without a command one of 256 random bits is made and returned, this once.
 */
Datum
tde_wallet_create(PG_FUNCTION_ARGS)
{
	char		passphrase[TDE_MAX_PASSPHRASE];
	text	   *volatile result = NULL;

	tde_log_call(fcinfo, NULL);
	/* a standby reads what the primary has encrypted: its wallet is a copy of that one */
	PreventCommandDuringRecovery("tde_wallet_create()");
	tde_wallet_refuse_existing();
	refuse_other_wallet(confirmation(fcinfo));
	PG_TRY();
	{
		TdePassphraseSource source = new_passphrase(fcinfo, passphrase);

		if (source == TDE_PASSPHRASE_GENERATED)
			result = cstring_to_text(passphrase);
		tde_wallet_create_with(passphrase, source);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(passphrase, sizeof(passphrase));
	}
	PG_END_TRY();

	tde_wallet_keep_result();
	if (tde_wallet_is_shared())
		make_first_keys_or_warn();
	else
		ereport(NOTICE,
				(errmsg("wallet created but not open"),
				 errhint("Set tde_column.passphrase_command, or add tde_column to shared_preload_libraries and run "
						 "tde_wallet_open().")));
	if (result)
		PG_RETURN_TEXT_P(result);
	PG_RETURN_NULL();
}

/* A TdePassphraseUse. */
static void
open_with(const char *passphrase, void *confirm)
{
	tde_wallet_open_with(passphrase, confirm);
}

/* A TdePassphraseUse. */
static void
change_to(const char *passphrase, void *arg)
{
	tde_wallet_change_passphrase_to(passphrase, TDE_PASSPHRASE_GIVEN);
}

/* To what the passphrase command prints now. */
static void
change_by_command(void)
{
	char		passphrase[TDE_MAX_PASSPHRASE];

	PG_TRY();
	{
		if (!tde_wallet_ask_command(passphrase))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("no passphrase was given, and no passphrase command is configured"),
					 errhint("Give it by COPY tde.passphrase FROM STDIN, and call the function in the same session within a minute.")));
		tde_wallet_change_passphrase_to(passphrase, TDE_PASSPHRASE_PRINTED);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(passphrase, sizeof(passphrase));
	}
	PG_END_TRY();
}

/* Data keys whose master key the wallet lacks. */
typedef struct Lacking
{
	int			keys;
	/* the id of the first one's, as hexadecimal digits */
	char		master[TDE_MASTER_ID_SIZE * 2 + 1];
} Lacking;

/* A visitor of data keys.  arg: a Lacking. */
static void
count_lacking(const TdeDataKey *row, void *arg)
{
	Lacking    *lacking = arg;

	if (!tde_keywrap_lacks_master(row))
		return;
	if (lacking->keys++ == 0)
		lacking->master[hex_encode((const char *) row->master, TDE_MASTER_ID_SIZE, lacking->master)] = '\0';
}

/*
 * Whoever has put the wrong file there learns it now, not by the first value.  A wallet that another server owns can be read, and is right for a
 * standby; only changes of it are refused.
 */
static void
warn_wrong_wallet(void)
{
	Lacking		lacking = {0};
	TdeWalletInfo info = tde_wallet_info();

	if (info.status != TDE_WALLET_OPEN)
		return;
	if (OidIsValid(tde_keys_relid()))
		tde_keys_scan(count_lacking, &lacking);
	if (lacking.keys > 0)
		ereport(WARNING,
				(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
				 errmsg_plural("the wallet that was opened lacks the master key of %d data key of this database",
							   "the wallet that was opened lacks the master keys of %d data keys of this database", lacking.keys, lacking.keys),
				 errdetail("Master key %s is one.  The wallet belongs to %s.", lacking.master,
						   tde_server_owns(&info.owner) ? "this server" : info.owner.name),
				 errhint("If it is the wrong one, run tde_wallet_close(), put the right file at \"%s\", and run tde_wallet_open() again.", tde_wallet_file)));
	else if (!RecoveryInProgress() && !tde_server_owns(&info.owner))
		ereport(WARNING,
				(errcode(ERRCODE_WARNING),
				 errmsg("the wallet that was opened belongs to another server"),
				 errdetail("It belongs to %s.", info.owner.name),
				 errhint("If this server is a copy of that one, run tde_wallet_take_over() before it changes keys.  If it is the wrong wallet, run "
						 "tde_wallet_close().")));
}

/*
 * tde_wallet_open(passphrase text DEFAULT NULL [, confirm text]) - open the wallet for the whole instance, reading the
 * file anew if it is open already, and make the keys that this database still lacks.  Without a passphrase it is the one that COPY has brought,
 * or the passphrase command is asked.  An error if the file lacks master keys that are open, unless confirm names that loss.
 */
Datum
tde_wallet_open(PG_FUNCTION_ARGS)
{
	char	   *confirm = confirmation(fcinfo);
	QueryDesc  *query;

	tde_log_call(fcinfo, NULL);
	query = tde_statement_without_snapshot(fcinfo);
	if (tde_passphrase_is_given(fcinfo, 0))
		tde_passphrase_use(fcinfo, 0, "passphrase", open_with, confirm);
	else
		tde_wallet_open_by_command(confirm);
	tde_statement_with_snapshot(query);
	warn_wrong_wallet();
	make_first_keys();
	tde_required_report(WARNING);
	PG_RETURN_VOID();
}

/*
 * tde_wallet_save(path text DEFAULT NULL) returns text - write the open wallet to a new file, under its passphrase; without a path, to
 * tde_column.wallet_file, if there is none.  Returns the path.  Only who may write files of the server may name one.
 *
 * Throws ERRCODE_INSUFFICIENT_PRIVILEGE, ERRCODE_INVALID_NAME for a relative path, and ERRCODE_TDE_WALLET_CLOSED.
 */
Datum
tde_wallet_save(PG_FUNCTION_ARGS)
{
	char	   *path = PG_ARGISNULL(0) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(0));

	tde_log_call(fcinfo, NULL);
	if (path != NULL && !has_privs_of_role(GetUserId(), ROLE_PG_WRITE_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to write the wallet to a chosen file"),
				 errhint("Must be a superuser or a member of the pg_write_server_files role.")));
	if (path != NULL)
	{
		canonicalize_path(path);
		if (tde_wallet_file != NULL && strcmp(path, tde_wallet_file) == 0)
			path = NULL;
	}
	if (path != NULL)
	{
		if (!is_absolute_path(path))
			ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("path \"%s\" is not absolute", path)));
	}
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to write the wallet");
	PG_RETURN_TEXT_P(cstring_to_text(tde_wallet_save_to(path)));
}

/*
 * tde_wallet_take_over() - from now on this server may change the wallet, and the one that might until now may not.  For a server that
 * was restored, moved or promoted, with a wallet file of its own.
 */
Datum
tde_wallet_take_over(PG_FUNCTION_ARGS)
{
	tde_log_call(fcinfo, NULL);
	tde_wallet_take_over_now();
	PG_RETURN_VOID();
}

/*
 * tde_wallet_close() - forget the master keys everywhere; stays closed until tde_wallet_open(), even if a passphrase command is set.  Statements that
 * are under way fail when they look for a key next.
 */
Datum
tde_wallet_close(PG_FUNCTION_ARGS)
{
	tde_log_call(fcinfo, NULL);
	tde_wallet_close_now();
	PG_RETURN_VOID();
}

/*
 * tde_wallet_change_passphrase(passphrase text DEFAULT NULL) - encrypt the wallet file under another passphrase; without an argument, the
 * one that COPY has brought, or that the passphrase command prints now.  Who may call this could open the wallet anyway, so the old one is not asked for: the
 * wallet is open.
 */
Datum
tde_wallet_change_passphrase(PG_FUNCTION_ARGS)
{
	tde_log_call(fcinfo, NULL);
	if (tde_passphrase_is_given(fcinfo, 0))
		tde_passphrase_use(fcinfo, 0, "passphrase", change_to, NULL);
	else
		change_by_command();
	tde_wallet_note_copies();
	tde_wallet_keep_result();
	PG_RETURN_VOID();
}

/*
 * tde_wallet_backup() - hand the wallet to tde_column.wallet_backup_command, as each change does.  Throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if
 * none is set.
 */
Datum
tde_wallet_backup(PG_FUNCTION_ARGS)
{
	tde_log_call(fcinfo, NULL);
	tde_wallet_back_up();
	PG_RETURN_VOID();
}

/*
 * tde_ensure_keys() returns boolean - make the keys that this database lacks, if the wallet is or can be opened.  False if some could not be made;
 * that is no error, so that scripts can call it in any state.
 */
Datum
tde_ensure_keys(PG_FUNCTION_ARGS)
{
	tde_log_call(fcinfo, NULL);
	PG_RETURN_BOOL(tde_ddl_ensure_declared_keys());
}
