/*
 * tde_column.c - loads the library: self-test, settings, shared state, hooks.
 */
#include "postgres.h"

#include "fmgr.h"

#include "tde_access.h"
#include "tde_compat.h"
#include "tde_count.h"
#include "tde_crypto.h"
#include "tde_ddl.h"
#include "tde_error.h"
#include "tde_forget.h"
#include "tde_guc.h"
#include "tde_keycache.h"
#include "tde_keystore.h"
#include "tde_log.h"
#include "tde_log_statement.h"
#include "tde_purge.h"
#include "tde_quote.h"
#include "tde_share_pool.h"
#include "tde_stored_spec.h"
#include "tde_transparent.h"
#include "tde_type.h"
#include "tde_wallet.h"

TDE_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	const char *failed = NULL;

	/* a cipher that does not give the published answers must not get to see a value */
	if (tde_selftest(&failed) != TDE_OK)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_CRYPTO_FAILURE),
				 errmsg("cryptographic self-test failed"),
				 errdetail("Test: %s.  OpenSSL: %s.", failed ? failed : "set-up", tde_crypto_reason())));

	tde_transparent_init();
	tde_guc_init();
	tde_wallet_init();
	tde_share_pool_init();
	tde_count_init();
	tde_forget_init();
	tde_keystore_init();
	tde_keycache_init();
	tde_modifiers_init();
	tde_type_init();
	tde_access_init();
	tde_quote_init();
	tde_ddl_init();
	tde_stored_spec_init();
	tde_log_init();
	tde_log_statement_init();
	tde_purge_init();
}
