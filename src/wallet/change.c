/*
 * change.c - making a wallet and changing what it holds, in the file first; which server may change it.
 *
 * All changes go the same way: at the file alone, with a copy of the open wallet (edit_file()).  The edit changes the copy, the file is written from
 * it, and only then is it in memory.  An error before the file has its name changes nothing.
 */
#include "postgres.h"

#include <openssl/crypto.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "crypto/primitives.h"
#include "server/error.h"
#include "wallet/backup.h"
#include "wallet/state.h"
#include "wallet/wallet.h"

/* ---- changes ---- */

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
	key->created = tde_wallet_file_now();
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

/* ereport if there is no name for a wallet file, or a file of that name. */
void
tde_wallet_refuse_existing(void)
{
	tde_wallet_file_refuse_existing(tde_wallet_path(ERROR));
}

void
tde_wallet_refuse_open(void)
{
	if (tde_wallet_info().status == TDE_WALLET_OPEN)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a wallet is open already"),
				 errdetail("A new wallet would lack its master keys, and the data that they protect could no longer be read."),
				 errhint("tde_wallet_save() writes the open wallet to a file; tde_wallet_change_passphrase() changes its passphrase.")));
}

/* Memory has what the file has.  Interrupts stay held off where the statement's answer must reach the client (tde_wallet_keep_result()). */
static void
settle(const TdeWalletContents *contents)
{
	if (!contents->must_answer)
		RESUME_INTERRUPTS();
}

void
tde_wallet_keep_result(void)
{
	disable_timeout(STATEMENT_TIMEOUT, false);
	QueryCancelPending = false;
	RESUME_INTERRUPTS();
}

typedef struct NewPassphrase
{
	const char *passphrase;
	TdePassphraseSource source;
} NewPassphrase;

static void
set_passphrase(TdeWalletContents *contents, const NewPassphrase *new)
{
	memset(contents->passphrase, 0, sizeof(contents->passphrase));
	strlcpy(contents->passphrase, new->passphrase, sizeof(contents->passphrase));
	contents->prove = true;
	contents->must_answer = true;
}

/* A TdeWalletUse at the file.  Without shared memory a wallet is made, but opened by whoever needs it, through the command. */
static void
create_with(TdeWalletContents *contents, void *new)
{
	const char *path = tde_wallet_path(ERROR);

	/* nobody opens one from now on, until this is done */
	tde_wallet_refuse_open();
	tde_wallet_file_warn_place(path);
	set_passphrase(contents, new);
	(void) tde_wallet_add_master(&contents->keys, TDE_MASTER_CURRENT);
	tde_server_here(&contents->keys.owner);
	tde_wallet_file_create(path, contents, true);
	if (tde_wallet_is_shared())
		tde_wallet_install(contents);
	settle(contents);
	ereport(LOG, (errmsg("wallet file \"%s\" created by user \"%s\"", path, GetUserNameFromId(GetUserId(), false))));
}

void
tde_wallet_create_with(const char *passphrase, TdePassphraseSource source)
{
	NewPassphrase new = {passphrase, source};

	tde_wallet_at_file(create_with, &new);
}

/* ---- who may change it ---- */

/* A change, as edit_file() gets it. */
typedef struct Edit
{
	TdeWalletEdit edit;			/* may throw; nothing has changed then */
	void	   *arg;
	bool		take_over;		/* whoever has owned the wallet so far */
} Edit;

/*
 * Throws if another server changes this wallet.  A copy of a server reads with the wallet, which may be the very file of the original: what it
 * changes there the original would miss.
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

/*
 * What the file at path has now, memory has, too.  The wallet is still open, so opened_at stays.  Somebody may have closed it meanwhile, and then it
 * stays closed.
 */
static void
remember(const TdeWalletContents *contents, const char *path)
{
	tde_wallet_lock(LW_EXCLUSIVE);
	if (tde_wallet_state->status == TDE_WALLET_OPEN)
	{
		memcpy(tde_wallet_state->contents, contents, sizeof(*contents));
		strlcpy(tde_wallet_state->path, path, sizeof(tde_wallet_state->path));
		tde_wallet_announce();
	}
	tde_wallet_unlock();
}

/* ---- writing what is open to another file ---- */

/*
 * Writes what is open, without a change.  A copy of a server may do that to get a wallet file of its own; only the path that it was opened from is
 * the owner's.
 */
static void
save(TdeWalletContents *contents, void *path)
{
	const char *to = path ? path : tde_wallet_path(ERROR);

	tde_wallet_copy(contents);
	/* where it was opened from is the owner's file: a newer one may just have been moved away */
	if (path == NULL && strcmp(to, tde_wallet_state->path) == 0)
		require_owner(&contents->keys, false);
	tde_wallet_file_warn_place(to);
	contents->prove = contents->must_answer = false;
	tde_wallet_file_create(to, contents, path == NULL);
	if (path == NULL)
		remember(contents, to);
	RESUME_INTERRUPTS();
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
	const char *path = tde_wallet_path(ERROR);

	tde_wallet_copy(contents);
	contents->keep_previous = true;
	contents->prove = contents->must_answer = false;
	require_owner(&contents->keys, edit->take_over);
	edit->edit(contents, edit->arg);
	tde_wallet_file_replace(path, contents);
	remember(contents, path);
	settle(contents);
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

/*
 * Throws unless the command, if there is one, will open the wallet under this passphrase when the server starts next.  Found out then, it would be an
 * outage.
 */
static void
require_command_prints(const char *passphrase)
{
	char		printed[TDE_MAX_PASSPHRASE];
	bool		same = true;

	PG_TRY();
	{
		if (tde_wallet_ask_command(printed))
			same = strcmp(printed, passphrase) == 0;
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(printed, sizeof(printed));
	}
	PG_END_TRY();
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the passphrase command does not print this passphrase"),
				 errdetail("After the next start the command could not open the wallet."),
				 errhint("Have the command print the new passphrase first, and omit the argument; or reset "
						 "tde_column.passphrase_command.")));
}

/* Shares are for people: after a start the wallet is closed until enough of them are given. */
static void
refuse_command(void)
{
	if (!tde_wallet_has_command())
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the wallet cannot be split while a passphrase command is configured"),
			 errdetail("After the next start the command could not open it any more."),
			 errhint("Run ALTER SYSTEM SET tde_column.passphrase_command = '' and then SELECT pg_reload_conf().")));
}

void
tde_wallet_check_new_passphrase(const char *passphrase, TdePassphraseSource source)
{
	/* what we make is random, however long passphrases have to be */
	if (source == TDE_PASSPHRASE_SHARED)
		refuse_command();
	if (source == TDE_PASSPHRASE_SHARED || source == TDE_PASSPHRASE_GENERATED)
		return;
	tde_passphrase_require_strength(passphrase, source == TDE_PASSPHRASE_PRINTED ? "passphrase that the command prints" : "passphrase");
	if (source == TDE_PASSPHRASE_GIVEN)
		require_command_prints(passphrase);
}

void
tde_wallet_note_copies(void)
{
	ereport(NOTICE,
			(errmsg("earlier copies of the wallet are still under the old passphrase"),
			 errhint("Once the wallet has been opened with the new passphrase or shares, remove \"%s.previous\", the copies "
					 "numbered after it, and all others.",
					 tde_wallet_file_resolve(tde_wallet_file))));
}

void
tde_wallet_back_up(void)
{
	if (!tde_wallet_backup_wanted())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no wallet backup command is configured"),
				 errhint("Set tde_column.wallet_backup_command, or copy the wallet with tde_wallet_save(path).")));
	tde_wallet_edit(change_nothing, NULL);
}

static void
change_passphrase(TdeWalletContents *contents, void *arg)
{
	NewPassphrase *new = arg;

	tde_wallet_check_new_passphrase(new->passphrase, new->source);
	set_passphrase(contents, new);
}

void
tde_wallet_change_passphrase_to(const char *passphrase, TdePassphraseSource source)
{
	NewPassphrase new = {passphrase, source};

	tde_wallet_edit(change_passphrase, &new);
	ereport(LOG, (errmsg("passphrase of the wallet changed by user \"%s\"", GetUserNameFromId(GetUserId(), false))));
}
