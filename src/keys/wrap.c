/*
 * wrap.c - wrapping data keys by master keys, together with what must stay true of them.
 *
 * A data key and its row's fields are wrapped as one text, by AES-256 key wrap with padding (RFC 5649), which authenticates both.  So a row cannot be
 * given another key's bytes, nor its key another row's rights.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "access/xlog.h"
#include "utils/builtins.h"
#include "utils/uuid.h"

#include "crypto/primitives.h"
#include "keys/table.h"
#include "keys/unwrapped.h"
#include "keys/wrap.h"
#include "server/compat.h"
#include "server/error.h"
#include "wallet/wallet.h"

/*
 * What is wrapped: everything that must stay true of the key, and the key.  Numbers are big-endian; the name is padded with zeros.
 * A row whose fields were changed in the file (another kind, slot, state or database) no longer agrees with it.
 */
#define CONTEXT_FORMAT	2
#define NAME_SIZE		64
#define CONTEXT_SIZE	(1 + 16 + 16 + 4 + 4 + 4 + 1 + 1 + 1 + 8 + NAME_SIZE)
#define WRAPPED_SIZE	(CONTEXT_SIZE + TDE_DATA_KEY_SIZE)

StaticAssertDecl(WRAPPED_SIZE + TDE_WRAP_OVERHEAD + 8 <= TDE_MAX_WRAPPED, "a wrapped key has room in its row");

/* Writes what is wrapped in front of the key.  The format is stored for ever; another one gets another first byte. */
static void
write_context(const TdeDataKey *row, uint8 *to)
{
	*to++ = CONTEXT_FORMAT;
	memcpy(to, row->database, 16);
	memcpy(to + 16, row->uuid, 16);
	to = tde_keywrap_put(to + 32, row->id, 4);
	to = tde_keywrap_put(to, (uint32) row->slot, 4);
	to = tde_keywrap_put(to, (uint32) row->version, 4);
	*to++ = (uint8) row->kind;
	*to++ = (uint8) row->state;
	*to++ = row->erasable;
	to = tde_keywrap_put(to, (uint64) row->created, 8);
	memset(to, 0, NAME_SIZE);
	memcpy(to, row->name, Min(strlen(row->name), NAME_SIZE));
}

/* Derives the check value.  It stands in clear and tells nothing of the key. */
static void
check_value(const uint8 *data_key, uint8 *kcv)
{
	static const uint8 info[] = {'k', 'c', 'v'};

	tde_check(tde_crypto_hkdf(data_key, TDE_DATA_KEY_SIZE, info, sizeof(info), kcv, TDE_KCV_SIZE));
}

char *
tde_keywrap_uuid_text(const uint8 *bytes)
{
	pg_uuid_t	uuid;

	memcpy(uuid.data, bytes, UUID_LEN);
	return DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&uuid)));
}

/* Copies out the master key that wraps the row, or says why there is none.  The caller cleanses it. */
static void
master_key_for(const TdeDataKey *row, TdeMasterKey *master)
{
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to read or write encrypted values");
	if (tde_wallet_find_master(row->master, master))
		return;
	/* a standby learns of a destruction from the row; its wallet may just lack the newest entries */
	if (row->erasable && !RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
				 errmsg("data key %u was destroyed", row->id),
				 errdetail("Its entry %s is not in the wallet any more.", tde_keywrap_uuid_text(row->master)),
				 errhint("If nobody has called tde_destroy_key(), the wallet is older than the key.")));
	else
		ereport(ERROR,
				(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
				 errmsg("master key %s is not in the wallet", tde_keywrap_uuid_text(row->master)),
				 errdetail("Data key %u was wrapped under it.", row->id),
				 RecoveryInProgress() ?
				 errhint("Copy the primary's wallet file to tde_column.wallet_file and run tde_wallet_open().") :
				 errhint("The wallet belongs to another server or is older than the key.  Put the right file at "
						 "tde_column.wallet_file and run tde_wallet_open().")));
}

void
tde_keywrap_require_master(const TdeDataKey *row)
{
	TdeMasterKey master;

	master_key_for(row, &master);
	OPENSSL_cleanse(&master, sizeof(master));
}

bool
tde_keywrap_lacks_master(const TdeDataKey *row)
{
	TdeMasterKey master;
	bool		found = tde_wallet_find_master(row->master, &master);

	OPENSSL_cleanse(&master, sizeof(master));
	/* an erasable one was destroyed with it */
	return !found && !row->erasable && row->state != TDE_STATE_DESTROYED;
}

void
tde_keywrap_check(const TdeDataKey *row, const uint8 data_key[TDE_DATA_KEY_SIZE])
{
	uint8		kcv[TDE_KCV_SIZE];

	check_value(data_key, kcv);
	if (memcmp(kcv, row->kcv, sizeof(kcv)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
				 errmsg("check value of data key %u does not fit the key", row->id)));
}

/*
 * The generation is read before the wallet is: if that changes meanwhile, the key is not kept for the others.  Which part of the row is wrong is not
 * told.
 */
void
tde_keywrap_unwrap(const TdeDataKey *row, uint8 data_key[TDE_DATA_KEY_SIZE])
{
	TdeMasterKey master;
	uint8		plain[TDE_MAX_WRAPPED];
	uint8		context[CONTEXT_SIZE];
	size_t		size = sizeof(plain);
	uint64		generation = pg_atomic_read_u64(tde_wallet_generation);
	TdeStatus	status;

	if (tde_unwrapped_find(row, data_key))
		return;
	master_key_for(row, &master);
	status = tde_crypto_unwrap_key(master.key, row->wrapped, row->wrapped_size, plain, &size);
	OPENSSL_cleanse(&master, sizeof(master));
	if (status != TDE_OK && status != TDE_E_AUTH)
		tde_error_throw(status);
	write_context(row, context);
	if (status != TDE_OK || size != WRAPPED_SIZE || memcmp(plain, context, CONTEXT_SIZE) != 0)
	{
		OPENSSL_cleanse(plain, sizeof(plain));
		ereport(ERROR,
				(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
				 errmsg("could not unwrap data key %u", row->id),
				 errdetail("Its row in tde.data_keys was changed or damaged."),
				 errhint("Restore the row from a backup of this database.")));
	}
	memcpy(data_key, plain + CONTEXT_SIZE, TDE_DATA_KEY_SIZE);
	OPENSSL_cleanse(plain, sizeof(plain));
	PG_TRY();
	{
		tde_keywrap_check(row, data_key);
	}
	PG_CATCH();
	{
		OPENSSL_cleanse(data_key, TDE_DATA_KEY_SIZE);
		PG_RE_THROW();
	}
	PG_END_TRY();
	tde_unwrapped_keep(row, data_key, generation);
}

static bool
has_master(const TdeDataKey *row)
{
	static const uint8 none[TDE_MASTER_ID_SIZE] = {0};

	return memcmp(row->master, none, sizeof(none)) != 0;
}

void
tde_keywrap_wrap(TdeDataKey *row, const uint8 data_key[TDE_DATA_KEY_SIZE])
{
	TdeMasterKey master;
	uint8		plain[WRAPPED_SIZE];
	size_t		size = sizeof(row->wrapped);

	if (has_master(row))
		master_key_for(row, &master);
	else if (!tde_wallet_find_master(NULL, &master))
		tde_wallet_closed_error("to wrap a data key");
	PG_TRY();
	{
		memcpy(row->master, master.id, sizeof(row->master));
		write_context(row, plain);
		memcpy(plain + CONTEXT_SIZE, data_key, TDE_DATA_KEY_SIZE);
		check_value(data_key, row->kcv);
		tde_check(tde_crypto_wrap_key(master.key, plain, sizeof(plain), row->wrapped, &size));
		row->wrapped_size = size;
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(&master, sizeof(master));
		OPENSSL_cleanse(plain, sizeof(plain));
	}
	PG_END_TRY();
}

void
tde_keywrap_new(TdeDataKey *row)
{
	uint8		data_key[TDE_DATA_KEY_SIZE];

	tde_check(tde_random_key(data_key, sizeof(data_key)));
	PG_TRY();
	{
		tde_keywrap_wrap(row, data_key);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(data_key, sizeof(data_key));
	}
	PG_END_TRY();
}

/* Wraps the row's key for what the row will be.  change() has not changed it yet: unwrapping takes the row as it was. */
static void
wrap_again(TdeDataKey *row, void (*change) (TdeDataKey *row, const void *arg), const void *arg)
{
	uint8		data_key[TDE_DATA_KEY_SIZE];

	tde_keywrap_unwrap(row, data_key);
	PG_TRY();
	{
		change(row, arg);
		tde_keywrap_wrap(row, data_key);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(data_key, sizeof(data_key));
	}
	PG_END_TRY();
}

static void
take_master(TdeDataKey *row, const void *master)
{
	memcpy(row->master, master, sizeof(row->master));
}

static void
take_active(TdeDataKey *row, const void *arg)
{
	row->state = TDE_STATE_ACTIVE;
}

static void
take_name(TdeDataKey *row, const void *name)
{
	strlcpy(row->name, name, sizeof(row->name));
}

void
tde_keywrap_rename(TdeDataKey *row, const char *name)
{
	wrap_again(row, take_name, name);
}

void
tde_keywrap_activate(TdeDataKey *row)
{
	wrap_again(row, take_active, NULL);
}

bool
tde_keywrap_renew(TdeDataKey *row, const uint8 master[TDE_MASTER_ID_SIZE])
{
	if (row->erasable || memcmp(row->master, master, sizeof(row->master)) == 0)
		return false;
	wrap_again(row, take_master, master);
	return true;
}
