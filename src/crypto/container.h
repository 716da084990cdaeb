/*
 * container.h - the wallet as a file: master keys in the secret bags of a PKCS#12 container (RFC 7292).
 *
 * Contents are encrypted with PBES2 (PBKDF2-HMAC-SHA256, AES-256-CBC) and authenticated by PBMAC1 (RFC 9579).
 * "openssl pkcs12 -info" of OpenSSL 3.4 and later reads it, and with -nomacver that of older ones.
 *
 * The wallet calls both functions (wallet/file.c).  They take long, since deriving keys from the passphrase is slow on purpose: no lock is to be held
 * meanwhile.
 */
#ifndef TDE_CRYPTO_CONTAINER_H
#define TDE_CRYPTO_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

#include "crypto/status.h"

#define TDE_MASTER_KEY_SIZE		32
#define TDE_MASTER_ID_SIZE		16
#define TDE_MAX_MASTER_KEYS		256

typedef enum TdeMasterState
{
	TDE_MASTER_CURRENT = 1,		/* wraps new data keys; exactly one in a wallet */
	TDE_MASTER_RETIRED = 2,		/* only unwraps */
	TDE_MASTER_PREPARED = 3,	/* the next rotation takes it; at most one */
	TDE_MASTER_ERASABLE = 4		/* wraps one slot's data keys, which are lost when it is removed */
} TdeMasterState;

typedef struct TdeMasterKey
{
	uint8_t		id[TDE_MASTER_ID_SIZE]; /* random; data keys name their master key by it */
	uint8_t		key[TDE_MASTER_KEY_SIZE];
	int64_t		created;		/* microseconds since 1970-01-01 UTC */
	int64_t		backed_up;		/* likewise: when a backup command first took a file with it; 0: never */
	uint8_t		state;			/* TdeMasterState */
} TdeMasterKey;

#define TDE_SERVER_ID_SIZE		32
#define TDE_SERVER_NAME_SIZE	256

/* A server, as a wallet knows the one that may change it. */
typedef struct TdeServer
{
	uint8_t		id[TDE_SERVER_ID_SIZE];
	char		name[TDE_SERVER_NAME_SIZE]; /* for people, in UTF-8; empty: there is no server here */
} TdeServer;

/* What a wallet holds.  It has keys in clear: whoever has it cleanses it. */
typedef struct TdeMasterKeys
{
	TdeServer	owner;			/* nobody in wallets that were made before they had one */
	int			count;
	TdeMasterKey keys[TDE_MAX_MASTER_KEYS];
} TdeMasterKeys;

/*
 * Makes the file's bytes.  *der is allocated with OPENSSL_malloc; free it with OPENSSL_clear_free.  TDE_E_FORMAT if the keys could not be read again:
 * none is current, or two are, or ids come twice.  TDE_E_AUTH for an empty passphrase.  On failure *der is NULL.
 */
extern TDE_MUST_CHECK TdeStatus tde_container_encode(const TdeMasterKeys *keys, const char *passphrase,
													 uint8_t **der, size_t *size);

/*
 * Read the file's bytes.  A wrong passphrase, a truncated and a changed file are all TDE_E_AUTH: nobody can tell them
 * apart.  TDE_E_FORMAT where the container is authentic but holds something that this version does not know;
 * TDE_E_UNAVAILABLE where it has the MAC of earlier versions, which OpenSSL here does not offer (FIPS).  On failure
 * *keys is cleansed.
 */
extern TDE_MUST_CHECK TdeStatus tde_container_decode(const uint8_t *der, size_t size, const char *passphrase,
													 TdeMasterKeys *keys);

#endif							/* TDE_CRYPTO_CONTAINER_H */
