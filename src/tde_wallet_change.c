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
#include "tde_server.h"
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
tde_wallet_with_contents(TdeWalletUse use, void *arg)
{
	TdeWalletContents contents;

	PG_TRY();
	{
		memset(&contents, 0, sizeof(contents));
		use(&contents, arg);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(&contents, sizeof(contents));
	}
	PG_END_TRY();
}

/* ereport if there is no name for a wallet file, or a file of that name. */
void
tde_wallet_refuse_existing(void)
{
	tde_wallet_file_refuse_existing(tde_wallet_path(ERROR));
}

static void
create_with(TdeWalletContents *contents, void *passphrase)
{
	const char *path = tde_wallet_path(ERROR);

	tde_wallet_file_warn_place(path);
	strlcpy(contents->passphrase, passphrase, sizeof(contents->passphrase));
	(void) tde_wallet_add_master(&contents->keys, TDE_MASTER_CURRENT);
	tde_server_here(&contents->keys.owner);
	tde_wallet_file_create(path, contents);
	ereport(LOG, (errmsg("wallet file \"%s\" created by user \"%s\"", path, GetUserNameFromId(GetUserId(), false))));
	if (tde_wallet_is_shared())
		tde_wallet_install(contents);
}

void
tde_wallet_create_with(const char *passphrase)
{
	tde_wallet_with_contents(create_with, unconstify(char *, passphrase));
}

/* ---- who may change it ---- */

typedef struct Edit
{
	TdeWalletEdit edit;
	void	   *arg;
	bool		take_over;
} Edit;

/*
 * A copy of a server reads with the wallet, which may be the very file of the original: what it changes there the original would miss.
 */
static void
require_owner(TdeMasterKeys *keys, bool take_over)
{
	TdeServer	here;

	tde_server_here(&here);
	if (!take_over && !tde_server_owns(&keys->owner))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("wallet file \"%s\" belongs to another server", tde_wallet_path(ERROR)),
				 errdetail("The server in %s changes it; this one is in %s.", keys->owner.name, here.name),
				 errhint("If this server has replaced that one, call tde_wallet_take_over().  If it is a copy of it, give it a wallet "
						 "file of its own first: set tde_column.wallet_file to another path and call tde_wallet_save().")));
	keys->owner = here;
}

/* ---- writing what is open to another file ---- */

static void
save(TdeWalletContents *contents, void *path)
{
	const char *to = path ? path : tde_wallet_path(ERROR);

	tde_wallet_copy(contents);
	/* where it was opened from is the owner's file: a newer one may just have been moved away */
	if (path == NULL && strcmp(to, tde_wallet_state->path) == 0)
		require_owner(&contents->keys, false);
	tde_wallet_file_warn_place(to);
	tde_wallet_file_create(to, contents);
	if (path != NULL)
		return;
	/* what is changed next is compared with this file */
	tde_wallet_lock(LW_EXCLUSIVE);
	if (tde_wallet_state->status == TDE_WALLET_OPEN)
	{
		memcpy(tde_wallet_state->contents->digest, contents->digest, sizeof(contents->digest));
		strlcpy(tde_wallet_state->path, to, sizeof(tde_wallet_state->path));
	}
	tde_wallet_unlock();
}

const char *
tde_wallet_save_to(const char *path)
{
	const char *where = path ? path : tde_wallet_path(ERROR);

	tde_wallet_at_file(save, unconstify(char *, path));
	ereport(LOG,
			(errmsg("open wallet written to \"%s\" by user \"%s\"", where, GetUserNameFromId(GetUserId(), false))));
	return where;
}

/* ---- changing it ---- */

static void
edit_file(TdeWalletContents *contents, void *arg)
{
	Edit	   *edit = arg;

	tde_wallet_copy(contents);
	contents->keep_previous = true;
	require_owner(&contents->keys, edit->take_over);
	edit->edit(contents, edit->arg);
	tde_wallet_file_replace(tde_wallet_path(ERROR), contents);
	tde_wallet_lock(LW_EXCLUSIVE);
	if (tde_wallet_state->status == TDE_WALLET_OPEN)
	{
		/* still open, so opened_at stays */
		memcpy(tde_wallet_state->contents, contents, sizeof(*contents));
		tde_wallet_announce();
	}
	tde_wallet_unlock();
	tde_wallet_forget_keys();
}

static void
change_file(Edit *what)
{
	tde_wallet_require_shared();
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to change the wallet");
	tde_wallet_at_file(edit_file, what);
}

void
tde_wallet_edit(TdeWalletEdit edit, void *arg)
{
	Edit		what = {edit, arg, false};

	change_file(&what);
}

static void
change_nothing(TdeWalletContents *contents, void *arg)
{
}

void
tde_wallet_take_over_now(void)
{
	Edit		what = {change_nothing, NULL, true};

	change_file(&what);
	ereport(LOG, (errmsg("wallet taken over by user \"%s\"", GetUserNameFromId(GetUserId(), false))));
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
