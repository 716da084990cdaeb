/*
 * shares.c - the SQL functions that split the wallet's passphrase in shares and open the wallet by some of them.
 *
 * A holder gives his share to tde_wallet_open_share() in a session of his own.  What he gives is in shared memory at once, whatever becomes of his
 * transaction.  The one who completes the number opens the wallet.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "ceremony/share_pool.h"
#include "crypto/primitives.h"
#include "ddl/declare.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/hidden.h"
#include "server/module.h"
#include "wallet/passphrase.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_ceremony_wallet_split);
PG_FUNCTION_INFO_V1(tde_ceremony_wallet_open_share);
PG_FUNCTION_INFO_V1(tde_ceremony_wallet_forget_shares);

TDE_MODULE("ceremony", tde_share_pool_init, NULL);

/* The texts of all shares must fit, so that they are never written to a temporary file. */
#define TUPLESTORE_KB 1024

static void
require_shared(void)
{
	if (!tde_share_pool_exists())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot open the wallet by shares"),
				 errdetail("tde_column is not in shared_preload_libraries, so sessions cannot put their shares together."),
				 errhint("Add tde_column to shared_preload_libraries and restart.")));
}

/* ---- a share comes in ---- */

/* Reads a share, or throws ERRCODE_INVALID_PARAMETER_VALUE.  The message says what to look at, and nothing of the share. */
static void
parse_share(const char *given, Size size, TdeShare *share)
{
	TdeShareFault fault;
	TdeStatus	status = tde_shamir_parse(given, size, share, &fault);

	if (status == TDE_OK && fault == TDE_SHARE_GOOD)
		return;
	OPENSSL_cleanse(share, sizeof(*share));
	tde_check(status);
	if (fault == TDE_SHARE_UNKNOWN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("not a share of a wallet"),
				 errdetail("Shares that this version knows begin with \"tde1\"."),
				 errhint("Give what tde_wallet_split() has returned to you.")));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("share is damaged"),
			 fault == TDE_SHARE_LENGTH ?
			 errdetail("It must have %d letters and digits, with or without dashes and spaces.", TDE_SHARE_CHARACTERS) :
			 fault == TDE_SHARE_CHARACTER ?
			 errdetail("It has characters that do not occur in shares.") :
			 errdetail("Its checksum is wrong."),
			 errhint("Compare it with what tde_wallet_split() printed, group by group.")));
}

static void
parse_given(const char *given, void *arg)
{
	parse_share(given, strlen(given), arg);
}

/* Reads the argument, or what COPY has brought.  The statement is hidden first: an error must not have it logged. */
static void
take_share(FunctionCallInfo fcinfo, TdeShare *share)
{
	text	   *argument;

	if (PG_ARGISNULL(0))
	{
		tde_passphrase_use(fcinfo, 0, "share", parse_given, share);
		return;
	}
	tde_hidden_statement("");
	argument = PG_GETARG_TEXT_PP(0);
	parse_share(VARDATA_ANY(argument), VARSIZE_ANY_EXHDR(argument), share);
}

/* Throws if the share was not taken.  The log tells who gave which number, never what it is. */
static void
report_verdict(TdeShareVerdict verdict, const TdeShare *share, int in)
{
	if (verdict == TDE_SHARE_REPEATED)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("share %d is in already", share->x),
				 errdetail("%d of %d shares are in.", in, share->k),
				 errhint("Give another one, or start again with tde_wallet_forget_shares().")));
	if (verdict == TDE_SHARE_FOREIGN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("share belongs to another split than those that are in"),
				 errdetail("Of the other split, %d are in.", in),
				 errhint("Only shares that were printed together open the wallet.  To start over, call "
						 "tde_wallet_forget_shares().")));
	ereport(LOG,
			(errmsg("share %d of the wallet given by user \"%s\": %d of %d are in",
					share->x, GetUserNameFromId(GetUserId(), false), in, share->k)));
}

/* In PG_CATCH: the wallet did not open.  The holders cannot see the passphrase, so the hint speaks of shares. */
static void
rethrow_as_of_shares(MemoryContext context, int count)
{
	ErrorData  *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	if (error->sqlerrcode != ERRCODE_TDE_WALLET_FAILURE)
		PG_RE_THROW();
	FlushErrorState();
	ereport(ERROR,
			(errcode(ERRCODE_TDE_WALLET_FAILURE),
			 errmsg("the %d shares do not open the wallet and were dropped", count),
			 errdetail("With the passphrase that they make: %s.", error->message),
			 errhint("If the file is right, a share is not genuine, or the passphrase was changed after the split.  Begin "
					 "again, with other shares if there are any.")));
}

/* Makes the passphrase of the shares; nothing else is left of them, whether that succeeds or not. */
static void
combine(TdeShare *shares, int count, char passphrase[TDE_SHARE_PASSPHRASE_SIZE])
{
	uint8		secret[TDE_SHARE_SECRET_SIZE];
	TdeStatus	status = tde_shamir_combine(shares, count, secret);

	if (status == TDE_OK)
		tde_shamir_passphrase(secret, passphrase);
	OPENSSL_cleanse(secret, sizeof(secret));
	OPENSSL_cleanse(shares, count * sizeof(TdeShare));
	tde_check(status);
}

/* As tde_wallet_open() does; a wrong share cannot be told from another passphrase. */
static void
open_with_shares(TdeShare *shares, int count)
{
	char		passphrase[TDE_SHARE_PASSPHRASE_SIZE];
	MemoryContext context = CurrentMemoryContext;

	combine(shares, count, passphrase);
	PG_TRY();
	{
		tde_wallet_open_with(passphrase, NULL);
	}
	PG_CATCH();
	{
		OPENSSL_cleanse(passphrase, sizeof(passphrase));
		rethrow_as_of_shares(context, count);
	}
	PG_END_TRY();
	OPENSSL_cleanse(passphrase, sizeof(passphrase));

	/* as tde_wallet_open() does, but a share holder need not know about them */
	(void) tde_ddl_ensure_declared_keys();
}

/*
 * tde_wallet_open_share(share text DEFAULT NULL) returns text - collect a share, NULL: the one that COPY has brought; open the wallet for the whole
 * instance when there are enough.  It is not undone by a rollback.  Returns how many are in.
 */
Datum
tde_ceremony_wallet_open_share(PG_FUNCTION_ARGS)
{
	TdeShare	share;
	TdeShare	enough[TDE_MAX_SHARES];
	TdeShareVerdict verdict;
	int			in;

	tde_log_call(fcinfo, NULL);
	require_shared();
	take_share(fcinfo, &share);
	verdict = tde_share_pool_add(&share, &in, enough);
	OPENSSL_cleanse(share.y, sizeof(share.y));
	report_verdict(verdict, &share, in);
	if (in == share.k)
	{
		open_with_shares(enough, in);
		PG_RETURN_TEXT_P(cstring_to_text(psprintf("%d of %d shares are in, the wallet is open", in, share.k)));
	}
	if (tde_wallet_info().status == TDE_WALLET_OPEN)
		ereport(NOTICE,
				(errmsg("wallet is open already"),
				 errdetail("%d shares open it again, which shows that they are right.", share.k)));
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%d of %d shares are in", in, share.k)));
}

/* tde_wallet_forget_shares() - forget the shares that came in. */
Datum
tde_ceremony_wallet_forget_shares(PG_FUNCTION_ARGS)
{
	int			count;

	tde_log_call(fcinfo, NULL);
	require_shared();
	count = tde_share_pool_forget();
	if (count > 0)
		ereport(LOG,
				(errmsg("shares of the wallet forgotten by user \"%s\": %d",
						GetUserNameFromId(GetUserId(), false), count)));
	PG_RETURN_VOID();
}

/* ---- splitting ---- */

static void
check_numbers(int k, int n)
{
	if (n < TDE_MIN_SHARES || n > TDE_MAX_SHARES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of shares must be from %d to %d", TDE_MIN_SHARES, TDE_MAX_SHARES)));
	if (k < TDE_MIN_SHARES || k > n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of shares that open the wallet must be from %d to %d", TDE_MIN_SHARES, n)));
}

/* As InitMaterializedSRF(), but with memory for all shares: work_mem may be smaller, and then they would be written to a file. */
static void
begin_result(ReturnSetInfo *rsinfo)
{
	MemoryContext context;

	if (rsinfo == NULL || !IsA(rsinfo, ReturnSetInfo) || !(rsinfo->allowedModes & SFRM_Materialize) ||
		rsinfo->expectedDesc == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	context = MemoryContextSwitchTo(rsinfo->econtext->ecxt_per_query_memory);
	rsinfo->returnMode = SFRM_Materialize;
	rsinfo->setResult = tuplestore_begin_heap(true, false, TUPLESTORE_KB);
	rsinfo->setDesc = CreateTupleDescCopy(rsinfo->expectedDesc);
	MemoryContextSwitchTo(context);
}

/* Adds the text to the result, after it was read back.  A share that cannot be read would be found out when it is too late. */
static void
put_text(ReturnSetInfo *rsinfo, const TdeShare *share)
{
	char		text[TDE_SHARE_TEXT_SIZE];
	TdeShare	found;
	TdeShareFault fault;
	Datum		value;
	bool		null = false;

	tde_check(tde_shamir_print(share, text));
	tde_check(tde_shamir_parse(text, strlen(text), &found, &fault));
	if (fault != TDE_SHARE_GOOD || memcmp(&found, share, sizeof(found)) != 0)
		elog(ERROR, "share %d cannot be read as it is printed", share->x);
	value = CStringGetTextDatum(text);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value, &null);
	OPENSSL_cleanse(DatumGetPointer(value), VARSIZE(DatumGetPointer(value)));
	OPENSSL_cleanse(text, sizeof(text));
	OPENSSL_cleanse(&found, sizeof(found));
}

/* Two sets of shares, the first and the last ones, have to give the secret back before the wallet is under it. */
static void
check_secret(const TdeShare *shares, int k, const uint8 secret[TDE_SHARE_SECRET_SIZE])
{
	uint8		found[TDE_SHARE_SECRET_SIZE];
	bool		same;

	tde_check(tde_shamir_combine(shares, k, found));
	same = CRYPTO_memcmp(found, secret, sizeof(found)) == 0;
	OPENSSL_cleanse(found, sizeof(found));
	if (!same)
		elog(ERROR, "shares do not give back what was split");
}

/* The wallet is changed last.  Then nothing can keep the shares any more from being returned but the loss of the session. */
static void
split(int k, int n, ReturnSetInfo *rsinfo)
{
	uint8		secret[TDE_SHARE_SECRET_SIZE];
	char		passphrase[TDE_SHARE_PASSPHRASE_SIZE];
	TdeShare	shares[TDE_MAX_SHARES];

	PG_TRY();
	{
		tde_check(tde_random_key(secret, sizeof(secret)));
		tde_check(tde_shamir_split(secret, k, n, shares));
		check_secret(shares, k, secret);
		check_secret(shares + n - k, k, secret);
		for (int i = 0; i < n; i++)
			put_text(rsinfo, &shares[i]);
		tde_shamir_passphrase(secret, passphrase);
		tde_wallet_change_passphrase_to(passphrase, TDE_PASSPHRASE_SHARED);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(secret, sizeof(secret));
		OPENSSL_cleanse(passphrase, sizeof(passphrase));
		OPENSSL_cleanse(shares, sizeof(shares));
	}
	PG_END_TRY();
}

static void
tell_what_remains(int k, int n)
{
	ereport(NOTICE,
			(errmsg("%d of these %d shares open the wallet from now on", k, n),
			 errdetail("They are shown this once.  The old passphrase, and shares of it, do not open it any more."),
			 errhint("Try them with tde_wallet_open_share() while the wallet is open.  As long as it is, you can split it again.")));
	tde_wallet_note_copies();
}

/*
 * tde_wallet_split(k int, n int) returns setof text - encrypt the wallet under a random passphrase that nobody sees, and
 * return n shares of it of which k open the wallet.
 */
Datum
tde_ceremony_wallet_split(PG_FUNCTION_ARGS)
{
	int			k = PG_GETARG_INT32(0);
	int			n = PG_GETARG_INT32(1);
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	tde_log_call(fcinfo, NULL);
	require_shared();
	check_numbers(k, n);
	begin_result(rsinfo);
	split(k, n, rsinfo);
	ereport(LOG,
			(errmsg("wallet split in %d shares by user \"%s\", of which %d open it",
					n, GetUserNameFromId(GetUserId(), false), k)));
	tell_what_remains(k, n);
	tde_wallet_keep_result();
	PG_RETURN_NULL();
}
