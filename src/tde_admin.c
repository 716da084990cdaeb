/*
 * tde_admin.c - the SQL functions that create, open and close the wallet and make the first keys.
 *
 * They are functions and not procedures: pg_stat_statements of PostgreSQL 15 keeps the text of utility statements with its
 * literals, and CALL is one.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "tde_compat.h"
#include "tde_crypto.h"
#include "tde_ddl.h"
#include "tde_error.h"
#include "tde_keystore.h"
#include "tde_passphrase.h"
#include "tde_wallet.h"

PG_FUNCTION_INFO_V1(tde_wallet_create);
PG_FUNCTION_INFO_V1(tde_wallet_open);
PG_FUNCTION_INFO_V1(tde_wallet_close);
PG_FUNCTION_INFO_V1(tde_wallet_change_passphrase);
PG_FUNCTION_INFO_V1(tde_ensure_keys);

/* Bytes of a passphrase that we make; written as twice as many hexadecimal digits. */
#define GENERATED_SIZE 32

static void
make_first_keys(void)
{
	if (!tde_ddl_ensure_declared_keys() && !RecoveryInProgress())
		ereport(NOTICE,
				(errmsg("data keys of this database could not be made yet"),
				 errdetail("The wallet is not open, or the transaction is read-only."),
				 errhint("Run tde_wallet_open() in this database before encrypted values are written.")));
}

static void
generate_passphrase(char passphrase[TDE_MAX_PASSPHRASE])
{
	uint8		bytes[GENERATED_SIZE];

	tde_check(tde_random_key(bytes, sizeof(bytes)));
	passphrase[hex_encode((const char *) bytes, sizeof(bytes), passphrase)] = '\0';
	OPENSSL_cleanse(bytes, sizeof(bytes));
}

/* Where the passphrase of a new wallet comes from; true: nobody knows it yet. */
static bool
new_passphrase(FunctionCallInfo fcinfo, char passphrase[TDE_MAX_PASSPHRASE])
{
	if (!PG_ARGISNULL(0))
		tde_passphrase_take(PG_GETARG_DATUM(0), "passphrase", passphrase);
	else if (!tde_wallet_ask_command(passphrase))
	{
		generate_passphrase(passphrase);
		return true;
	}
	return false;
}

/*
 * tde_wallet_create(passphrase text DEFAULT NULL) returns text - make the wallet file with a first master key, open it and
 * make this database's keys.  Without a passphrase it is the one that the passphrase command prints, which opens the wallet
 * from now on; without a command one of 256 random bits is made and returned, this once.
 */
Datum
tde_wallet_create(PG_FUNCTION_ARGS)
{
	char		passphrase[TDE_MAX_PASSPHRASE];
	text	   *volatile result = NULL;

	/* a standby reads what the primary has encrypted: its wallet is a copy of that one */
	PreventCommandDuringRecovery("tde_wallet_create()");
	PG_TRY();
	{
		bool		generated = new_passphrase(fcinfo, passphrase);

		tde_wallet_create_with(passphrase);
		if (generated)
			result = cstring_to_text(passphrase);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(passphrase, sizeof(passphrase));
	}
	PG_END_TRY();

	if (tde_wallet_is_shared())
		make_first_keys();
	else
		ereport(NOTICE,
				(errmsg("wallet created but not open"),
				 errhint("Set tde_column.passphrase_command, or add tde_column to shared_preload_libraries and run "
						 "tde_wallet_open().")));
	if (result)
		PG_RETURN_TEXT_P(result);
	PG_RETURN_NULL();
}

static void
open_with(const char *passphrase, void *arg)
{
	tde_wallet_open_with(passphrase);
}

static void
change_to(const char *passphrase, void *arg)
{
	tde_wallet_change_passphrase_to(passphrase);
}

/*
 * tde_wallet_open(passphrase text DEFAULT NULL) - open the wallet for the whole instance, reading the file anew if it is
 * open already, and make the keys that this database still lacks.  Without a passphrase the passphrase command is asked.
 */
Datum
tde_wallet_open(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		tde_wallet_open_by_command();
	else
		tde_passphrase_use(PG_GETARG_DATUM(0), "passphrase", open_with, NULL);
	make_first_keys();
	PG_RETURN_VOID();
}

/* tde_wallet_close() - forget the master keys everywhere; stays closed until tde_wallet_open(). */
Datum
tde_wallet_close(PG_FUNCTION_ARGS)
{
	tde_wallet_close_now();
	PG_RETURN_VOID();
}

/*
 * tde_wallet_change_passphrase(passphrase text) - encrypt the wallet file under another passphrase.  Who may call this could
 * open the wallet anyway, so the old one is not asked for: the wallet is open.
 */
Datum
tde_wallet_change_passphrase(PG_FUNCTION_ARGS)
{
	tde_passphrase_use(PG_GETARG_DATUM(0), "passphrase", change_to, NULL);
	ereport(NOTICE,
			(errmsg("the previous copy of the wallet is still under the old passphrase"),
			 errhint("Remove \"%s.previous\" once the new passphrase has been tried, and see to it that "
					 "tde_column.passphrase_command prints the new one.", tde_wallet_file)));
	PG_RETURN_VOID();
}

/* tde_ensure_keys() returns boolean - make the keys that this database lacks, if the wallet is or can be opened. */
Datum
tde_ensure_keys(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(tde_ddl_ensure_declared_keys());
}
