/*
 * nodes.c - data keys for databases that have the same hash key already, as the nodes of a Citus cluster: the text that carries them is under a
 * secret that is derived from it, which so is in no statement and on no wire.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "utils/builtins.h"

#include "keys/keyed_hash.h"
#include "server/compat.h"
#include "server/error.h"
#include "transfer/adopt.h"
#include "transfer/exported.h"

PG_FUNCTION_INFO_V1(tde_transfer_give_keys);
PG_FUNCTION_INFO_V1(tde_transfer_take_keys);

#define PURPOSE			'x'		/* see tde_key_node_digest() */
#define SECRET_BYTES	32
#define SECRET_SIZE		(2 * SECRET_BYTES + 1)

/* Derives the secret from the hash key.  The caller cleanses it. */
static void
shared_secret(char secret[SECRET_SIZE])
{
	uint8		digest[TDE_MAX_DIGEST];

	tde_key_node_digest(PURPOSE, (const uint8 *) "", 0, digest);
	hex_encode((const char *) digest, SECRET_BYTES, secret);
	secret[SECRET_SIZE - 1] = '\0';
	OPENSSL_cleanse(digest, sizeof(digest));
}

/* The argument of tde_take_keys() for other nodes.  Not in SQL: module "citus" calls it. */
Datum
tde_transfer_give_keys(PG_FUNCTION_ARGS)
{
	char		secret[SECRET_SIZE];
	text	   *keys;

	/* so that no node makes one of its own */
	tde_keys_ensure_all();
	shared_secret(secret);
	keys = tde_exported_write(TDE_EXPORT_ADOPTABLE, secret);
	OPENSSL_cleanse(secret, sizeof(secret));
	PG_RETURN_TEXT_P(keys);
}

/* tde_take_keys(exported text) returns int4 - make the keys of another node with the same hash key this database's; how many rows changed. */
Datum
tde_transfer_take_keys(PG_FUNCTION_ARGS)
{
	char		secret[SECRET_SIZE];
	int			count = 0;

	tde_log_call(fcinfo, NULL);
	shared_secret(secret);
	tde_exported_read(PG_GETARG_TEXT_PP(0), secret, tde_adopt_keys, &count);
	OPENSSL_cleanse(secret, sizeof(secret));
	PG_RETURN_INT32(count);
}
