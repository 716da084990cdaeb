/*
 * tde_wallet_change.c - making a wallet and changing what it holds, in the file first.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/timestamp.h"

#include "tde_crypto.h"
#include "tde_error.h"
#include "tde_wallet_state.h"

TdeMasterKey *
tde_wallet_add_master(TdeMasterKeys *keys, TdeMasterState state)
{
	TdeMasterKey *key;

	if (keys->count >= TDE_MAX_MASTER_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("wallet is full"),
				 errdetail("It has room for %d master keys, retired ones and those of erasable keys included.",
						   TDE_MAX_MASTER_KEYS),
				 errhint("Remove those that nothing needs with tde_purge_master_key().")));
	key = &keys->keys[keys->count++];
	tde_check(tde_random_key(key->id, sizeof(key->id)));
	tde_check(tde_random_key(key->key, sizeof(key->key)));
	key->state = state;
	key->created = GetCurrentTimestamp() +
		(int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * USECS_PER_SEC;
	return key;
}

void
tde_wallet_remove_master(TdeMasterKeys *keys, const uint8 *id)
{
	for (int i = 0; i < keys->count; i++)
		if (memcmp(keys->keys[i].id, id, TDE_MASTER_ID_SIZE) == 0)
		{
			keys->keys[i] = keys->keys[--keys->count];
			OPENSSL_cleanse(&keys->keys[keys->count], sizeof(TdeMasterKey));
			return;
		}
}

void
tde_wallet_create_with(const char *passphrase)
{
	TdeWalletContents contents;
	const char *path = tde_wallet_path(ERROR);

	tde_wallet_file_warn_place(path);
	memset(&contents, 0, sizeof(contents));
	strlcpy(contents.passphrase, passphrase, sizeof(contents.passphrase));
	(void) tde_wallet_add_master(&contents.keys, TDE_MASTER_CURRENT);
	tde_wallet_file_create(path, &contents);
	ereport(LOG, (errmsg("wallet file \"%s\" created by user \"%s\"", path, GetUserNameFromId(GetUserId(), false))));
	if (tde_wallet_is_shared())
		tde_wallet_install(&contents);
	OPENSSL_cleanse(&contents, sizeof(contents));
}

static void
edit_file_with(TdeWalletEdit edit, void *arg, TdeWalletContents *contents)
{
	tde_wallet_copy(contents);
	contents->keep_previous = true;
	edit(contents, arg);
	tde_wallet_file_replace(tde_wallet_path(ERROR), contents);
	tde_wallet_lock(LW_EXCLUSIVE);
	if (tde_wallet_state->status == TDE_WALLET_OPEN)
	{
		/* still open, so opened_at stays */
		memcpy(tde_wallet_state->contents, contents, sizeof(*contents));
		tde_wallet_announce();
	}
	tde_wallet_unlock();
}

static void
edit_file(TdeWalletEdit edit, void *arg)
{
	TdeWalletContents contents;

	PG_TRY();
	{
		edit_file_with(edit, arg, &contents);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(&contents, sizeof(contents));
	}
	PG_END_TRY();
}

void
tde_wallet_edit(TdeWalletEdit edit, void *arg)
{
	tde_wallet_require_shared();
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to change the wallet");
	tde_wallet_take_file();
	PG_ENSURE_ERROR_CLEANUP(tde_wallet_release_file, (Datum) 0);
	{
		edit_file(edit, arg);
	}
	PG_END_ENSURE_ERROR_CLEANUP(tde_wallet_release_file, (Datum) 0);
	tde_wallet_release_file(0, (Datum) 0);
}

static void
set_passphrase(TdeWalletContents *contents, void *arg)
{
	memset(contents->passphrase, 0, sizeof(contents->passphrase));
	strlcpy(contents->passphrase, (const char *) arg, sizeof(contents->passphrase));
}

void
tde_wallet_change_passphrase_to(const char *passphrase)
{
	tde_wallet_edit(set_passphrase, (void *) passphrase);
	ereport(LOG, (errmsg("passphrase of the wallet changed by user \"%s\"", GetUserNameFromId(GetUserId(), false))));
}
