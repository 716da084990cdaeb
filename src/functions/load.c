/*
 * load.c - loads the library: self-test, settings, shared state, hooks.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "client/statements.h"
#include "crypto/primitives.h"
#include "functions/hooks.h"
#include "functions/settings.h"
#include "keys/cache.h"
#include "keys/table.h"
#include "maintenance/purge.h"
#include "operators/index_conditions.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/error.h"
#include "server/forget.h"
#include "server/log_filter.h"
#include "type/access.h"
#include "type/type.h"
#include "wallet/share_pool.h"
#include "wallet/wallet.h"

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

#ifdef TDE_PKCS12_ITERATIONS
	/* in the server log alone if a session loads it */
	ereport(process_shared_preload_libraries_in_progress ? WARNING : LOG,
			(errmsg("this is a build of tde_column for its tests: little protects the passphrase of a wallet that it writes"),
			 errdetail("%d iterations of PBKDF2.", TDE_PKCS12_ITERATIONS),
			 errhint("Build it anew (make clean, make, make install) before there is anything to protect.")));
#endif
	tde_client_init();
	tde_settings_init();
	tde_wallet_init();
	tde_share_pool_init();
	tde_counters_init();
	tde_limits_init();
	tde_forget_init();
	tde_keystore_init();
	tde_keycache_init();
	tde_modifiers_init();
	tde_type_init();
	tde_index_conditions_init();
	tde_access_init();
	tde_log_init();
	tde_purge_init();
	tde_hooks_init();
}
