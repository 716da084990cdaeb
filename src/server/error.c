/*
 * error.c - errors: what a status of the pure layer becomes.
 */
#include "postgres.h"

#include "crypto/primitives.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/error.h"

/* Values under a cipher that is not there are not lost, so the hint says how to get at them. */
static void
throw_unavailable(const char *cipher)
{
	if (cipher == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("algorithm is not available in this server's OpenSSL"),
				 errdetail("The library was built without it, or its FIPS provider refuses it.")));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cipher %s is not available in this server's OpenSSL", cipher),
			 tde_crypto_fips() ? errdetail("OpenSSL is restricted to what FIPS allows.")
			 : errdetail("The library was built without it, or its providers refuse it."),
			 errhint("Declare the column with another cipher.  To re-encrypt existing values, run tde_rekey_table() on a "
					 "server whose OpenSSL has this one.")));
}

/* TDE_E_FORMAT is of wallet files, whose reader has messages of its own (wallet/file.c).  Here it is a failure like any other. */
void
tde_error_throw(TdeStatus status)
{
	switch (status)
	{
		case TDE_E_AUTH:
			tde_counters_event(TDE_EVENT_NOT_AUTHENTIC, 1);
			ereport(ERROR,
					(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
					 errmsg("could not authenticate encrypted value"),
					 errdetail("The stored bytes were changed, or were not made under their key for this type.")));
			break;
		case TDE_E_NOMEM:
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("OpenSSL could not allocate a cipher context.")));
			break;
		case TDE_E_UNAVAILABLE:
			throw_unavailable(tde_crypto_missing());
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_TDE_CRYPTO_FAILURE),
					 errmsg("cryptographic operation failed"),
					 errdetail("OpenSSL: %s.", tde_crypto_reason())));
	}
	pg_unreachable();
}
