/*
 * file.c - reading and writing the wallet file.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/timestamp.h"

#include "crypto/primitives.h"
#include "server/error.h"
#include "wallet/backup.h"
#include "wallet/file.h"

/* Far more than TDE_MAX_MASTER_KEYS need. */
#define MAX_WALLET_SIZE (1024 * 1024)

/*
 * Whoever else can read the file can guess at its passphrase, and whoever else can write it can replace it.  The rules
 * are those that PostgreSQL has for the private key of its server certificate.  Looks at the open file, not at the path.
 */
static bool
check_permissions(const char *path, int fd, off_t *size, int elevel)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
	{
		ereport(elevel, (errcode_for_file_access(), errmsg("could not stat wallet file \"%s\": %m", path)));
		return false;
	}
	if (!S_ISREG(st.st_mode))
	{
		ereport(elevel,
				(errcode(ERRCODE_TDE_WALLET_FAILURE), errmsg("wallet file \"%s\" is not a regular file", path)));
		return false;
	}
	if (st.st_uid != geteuid())
	{
		ereport(elevel,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("wallet file \"%s\" is not owned by the user that runs the server", path),
				 errhint("Change its owner with chown.")));
		return false;
	}
	if (st.st_mode & (S_IRWXG | S_IRWXO))
	{
		ereport(elevel,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("wallet file \"%s\" has group or world access", path),
				 errdetail("The file must have permissions u=rw (0600) or less."),
				 errhint("Run: chmod 600 %s", path)));
		return false;
	}
	if (st.st_size > MAX_WALLET_SIZE)
	{
		ereport(elevel,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("wallet file \"%s\" is too large to be a wallet", path)));
		return false;
	}
	*size = st.st_size;
	return true;
}

/* Read the whole file into palloc'd memory; NULL on failure. */
static uint8 *
slurp(const char *path, size_t *size, int elevel)
{
	/* not to wait for whoever writes to it, if it is a FIFO */
	int			fd = OpenTransientFile(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | PG_BINARY);
	uint8	   *bytes = NULL;
	off_t		expected;

	if (fd < 0)
	{
		bool		missing = (errno == ENOENT);
		bool		denied = (errno == EACCES);

		ereport(elevel,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("could not open wallet file \"%s\": %m", path),
				 missing ? errhint("Put the wallet back there, from its backup, or set tde_column.wallet_file to where it is.  If it "
								   "is open in this server, tde_wallet_save() writes it.") : 0,
				 denied ? errhint("File and folder must belong to the user that the server runs as (chown), with modes 0600 and 0700.") : 0));
		return NULL;
	}
	if (check_permissions(path, fd, &expected, elevel))
	{
		ssize_t		got;

		bytes = palloc(expected + 1);
		got = read(fd, bytes, expected + 1);
		if (got < 0)
		{
			ereport(elevel, (errcode_for_file_access(), errmsg("could not read wallet file \"%s\": %m", path)));
			bytes = NULL;
		}
		else
			*size = got;
	}
	CloseTransientFile(fd);
	return bytes;
}

static void
digest_file(const uint8 *bytes, size_t size, uint8 digest[TDE_WALLET_DIGEST_SIZE])
{
	tde_check(EVP_Digest(bytes, size, digest, NULL, EVP_sha256(), NULL) == 1 ? TDE_OK : TDE_E_CRYPTO);
}

bool
tde_wallet_file_digest(const char *path, uint8 digest[TDE_WALLET_DIGEST_SIZE], int elevel)
{
	size_t		size;
	uint8	   *der = slurp(path, &size, elevel);

	if (der == NULL)
		return false;
	digest_file(der, size, digest);
	pfree(der);
	return true;
}

bool
tde_wallet_file_read(const char *path, TdeWalletContents *contents, int elevel)
{
	size_t		size;
	uint8	   *der = slurp(path, &size, elevel);
	TdeStatus	status;

	if (der == NULL)
		return false;
	digest_file(der, size, contents->digest);
	status = tde_container_decode(der, size, contents->passphrase, &contents->keys);
	pfree(der);
	if (status == TDE_OK)
		return true;

	if (status == TDE_E_AUTH)
		ereport(elevel,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("could not open wallet file \"%s\": wrong passphrase or damaged wallet", path),
				 size == 0 ? errdetail("The file is empty.") : 0,
				 errhint("Earlier copies are beside it (\"%s.previous\" is the last one) and where tde_column.wallet_backup_command puts them; shares of the "
						 "passphrase open it by tde_wallet_open_share().  Nothing else does.", path)));
	else if (status == TDE_E_UNAVAILABLE)
		ereport(elevel,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("could not open wallet file \"%s\": it has a MAC that this server's OpenSSL cannot verify", path),
				 errdetail("An earlier version wrote it.  Its MAC needs PKCS12KDF, which OpenSSL's FIPS provider does not have."),
				 errhint("Open it once where OpenSSL is not restricted to FIPS, and change it there, by tde_wallet_take_over() or "
						 "tde_rotate_master_key() for example: any change gives it a MAC that FIPS allows.")));
	else if (status == TDE_E_FORMAT)
		ereport(elevel,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("wallet file \"%s\" was not written by this extension, or by a later version of it", path)));
	else
		ereport(elevel,
				(errcode(ERRCODE_TDE_CRYPTO_FAILURE),
				 errmsg("could not decode wallet file \"%s\": %s", path, tde_crypto_reason())));
	return false;
}

/* Write all of it and see it on disk, under a name that nobody else has. */
static void
write_temporary(const char *temporary, const uint8 *der, size_t size)
{
	int			fd;

	/* a file of this name can only be left over from a crash of a process that had our number */
	if (unlink(temporary) < 0 && errno != ENOENT)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not remove file \"%s\": %m", temporary)));
	fd = OpenTransientFilePerm(temporary, O_WRONLY | O_CREAT | O_EXCL | PG_BINARY, S_IRUSR | S_IWUSR);
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create wallet file \"%s\": %m", temporary),
				 errhint("The folder must exist and be writable for the user that runs the server.")));
	errno = 0;
	if (write(fd, der, size) != (ssize_t) size || pg_fsync(fd) != 0)
	{
		int			save_errno = errno ? errno : ENOSPC;

		CloseTransientFile(fd);
		unlink(temporary);
		errno = save_errno;
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not write wallet file \"%s\": %m", temporary)));
	}
	if (CloseTransientFile(fd) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not close wallet file \"%s\": %m", temporary)));
}

static void
refuse_existing(const char *path)
{
	ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_FILE),
			 errmsg("wallet file \"%s\" already exists", path),
			 errdetail("It may hold the only copy of keys in use, so it is never replaced."),
			 errhint("Open it with tde_wallet_open(), or set tde_column.wallet_file to another name.  tde_wallet_save(path) writes the open wallet to "
					 "another file.")));
}

void
tde_wallet_file_refuse_existing(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return;
	if (stat(path, &st) < 0 && errno == ENOENT)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_FILE),
				 errmsg("wallet file \"%s\" is a symbolic link that leads nowhere", path),
				 errhint("Remove it, or put the wallet where it leads.")));
	refuse_existing(path);
}

/*
 * The file has its name already, so a failure does not undo the change, and is a WARNING.  After a crash of the machine the name may be gone again.
 */
static void
sync_folder(const char *path)
{
	char		folder[MAXPGPATH];

	strlcpy(folder, path, sizeof(folder));
	get_parent_directory(folder);
	(void) fsync_fname_ext(folder, true, false, WARNING);
}

/* Reads what is on the disk again: it has to open under the new passphrase, which may be the only one from now on, and to hold as many keys. */
static void
prove(const char *temporary, const TdeWalletContents *contents)
{
	TdeWalletContents found;
	bool		same;

	PG_TRY();
	{
		memcpy(found.passphrase, contents->passphrase, sizeof(found.passphrase));
		(void) tde_wallet_file_read(temporary, &found, ERROR);
		same = found.keys.count == contents->keys.count;
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(&found, sizeof(found));
	}
	PG_END_TRY();
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("wallet file \"%s\" does not hold what was written to it", temporary)));
}

/* Encodes the contents into a temporary file and notes the digest of what it holds.  Where that is to be proved, it is read again. */
static void
encode_into(const char *temporary, TdeWalletContents *contents)
{
	uint8	   *der;
	size_t		size;

	tde_check(tde_container_encode(&contents->keys, contents->passphrase, &der, &size));
	PG_TRY();
	{
		write_temporary(temporary, der, size);
		digest_file(der, size, contents->digest);
	}
	PG_FINALLY();
	{
		OPENSSL_clear_free(der, size);
	}
	PG_END_TRY();
	if (contents->prove)
		prove(temporary, contents);
}

/* Keys that no backup has seen are seen by one that is made now.  If that fails, they have not been seen after all; 0 stands for that. */
static void
mark_backed_up(TdeMasterKeys *keys, int64 before, int64 now)
{
	for (int i = 0; i < keys->count; i++)
		if (keys->keys[i].backed_up == before)
			keys->keys[i].backed_up = now;
}

int64
tde_wallet_file_now(void)
{
	return GetCurrentTimestamp() + (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
}

/* A file that is being written, for abandon_writing(). */
typedef struct Writing
{
	char	   *temporary;
	char		backup[MAXPGPATH];	/* its name, if it was begun and has not failed */
	bool		not_backed_up;	/* since it has */
} Writing;

/* The change is not made.  Also called when the backend is terminated: a temporary file with keys must not stay. */
static void
abandon_writing(int code, Datum arg)
{
	const Writing *writing = (const Writing *) DatumGetPointer(arg);

	unlink(writing->temporary);
	if (writing->backup[0] != '\0')
		ereport(WARNING,
				(errmsg("wallet backup \"%s\", if it was made, is of a change that did not take effect", writing->backup),
				 errdetail("It may be under a passphrase that nobody has."),
				 errhint("Make a good one: SELECT tde_wallet_backup();")));
}

/*
 * Makes a file of the contents under this temporary name, ready to be called path.  Keys are marked as backed up in the very file that the backup is
 * of.
 */
static void
make_ready(Writing *writing, const char *path, TdeWalletContents *contents, bool backup)
{
	int64		now = tde_wallet_file_now();

	backup &= tde_wallet_backup_wanted();
	if (backup)
		mark_backed_up(&contents->keys, 0, now);
	encode_into(writing->temporary, contents);
	if (backup && !tde_wallet_backup_run(writing->temporary, path, writing->backup))
	{
		writing->not_backed_up = true;
		mark_backed_up(&contents->keys, now, 0);
		encode_into(writing->temporary, contents);
	}
}

/*
 * A cancel that has come is taken now.  A later one waits until memory has what the file has, and whoever is to know the passphrase
 * has it.
 */
static void
point_of_no_return(void)
{
	CHECK_FOR_INTERRUPTS();
	HOLD_INTERRUPTS();
}

/* link() and not rename(): it cannot replace what another session has put there meanwhile. */
static void
place_new(const char *temporary, const char *path)
{
	point_of_no_return();
	if (link(temporary, path) < 0)
	{
		if (errno == EEXIST)
			refuse_existing(path);
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not create wallet file \"%s\": %m", path)));
	}
}

void
tde_wallet_file_create(const char *path, TdeWalletContents *contents, bool backup)
{
	Writing		writing = {psprintf("%s.%d.tmp", path, MyProcPid)};

	tde_wallet_file_refuse_existing(path);
	/* not PG_TRY, which pg_terminate_backend() and a shutdown pass by */
	PG_ENSURE_ERROR_CLEANUP(abandon_writing, PointerGetDatum(&writing));
	{
		make_ready(&writing, path, contents, backup);
		place_new(writing.temporary, path);
	}
	PG_END_ENSURE_ERROR_CLEANUP(abandon_writing, PointerGetDatum(&writing));
	unlink(writing.temporary);
	sync_folder(path);
	tde_wallet_backup_warn(writing.not_backed_up);
}

/* What others have put there since is not to be overwritten with what we remember. */
static void
require_unchanged(const char *path, const uint8 digest[TDE_WALLET_DIGEST_SIZE])
{
	uint8		found[TDE_WALLET_DIGEST_SIZE];

	(void) tde_wallet_file_digest(path, found, ERROR);
	if (memcmp(found, digest, sizeof(found)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("wallet file \"%s\" has changed since it was opened", path),
				 errhint("Put the right file there, open it with tde_wallet_open(), and try again.")));
}

char *
tde_wallet_file_resolve(const char *path)
{
	char	   *real = realpath(path, NULL);
	char	   *copy = pstrdup(real ? real : path);

	free(real);
	return copy;
}

/* The new file is there under a temporary name, and nobody has changed the old one. */
static void
place_anew(const char *temporary, const char *path, bool keep_previous)
{
	point_of_no_return();
	if (keep_previous)
		tde_wallet_keep_generation(path);
	else
		tde_wallet_drop_generations(path, temporary);
	if (rename(temporary, path) < 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not rename file \"%s\" to \"%s\": %m", temporary, path)));
}

void
tde_wallet_file_replace(const char *path, TdeWalletContents *contents)
{
	/* rename() would replace a symbolic link and not what it leads to */
	char	   *real = tde_wallet_file_resolve(path);

	/* one process of the instance writes at a time; what a crash left of an earlier one goes with the next */
	Writing		writing = {psprintf("%s.tmp", real)};
	uint8		digest[TDE_WALLET_DIGEST_SIZE];

	memcpy(digest, contents->digest, sizeof(digest));
	require_unchanged(real, digest);
	PG_ENSURE_ERROR_CLEANUP(abandon_writing, PointerGetDatum(&writing));
	{
		make_ready(&writing, real, contents, true);
		/* the command may have taken its time */
		require_unchanged(real, digest);
		place_anew(writing.temporary, real, contents->keep_previous);
	}
	PG_END_ENSURE_ERROR_CLEANUP(abandon_writing, PointerGetDatum(&writing));
	sync_folder(real);
	tde_wallet_prune_generations(real);
	tde_wallet_backup_warn(writing.not_backed_up);
	pfree(real);
	pfree(writing.temporary);
}

bool
tde_wallet_file_is_inside(const char *path)
{
	char		folder[MAXPGPATH];
	char	   *real;
	bool		inside;

	strlcpy(folder, path, sizeof(folder));
	get_parent_directory(folder);
	real = realpath(folder, NULL);	/* a symbolic link may lead there */
	inside = path_is_prefix_of_path(DataDir, folder) || (real && path_is_prefix_of_path(DataDir, real));
	free(real);
	return inside;
}

/* Whoever can write the folder can put an older copy of the wallet in its place, or take it away. */
static void
warn_writable(const char *path)
{
	char		folder[MAXPGPATH];
	struct stat st;

	strlcpy(folder, path, sizeof(folder));
	get_parent_directory(folder);
	if (stat(folder, &st) == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (st.st_mode & S_ISVTX) == 0)
		ereport(WARNING,
				(errmsg("folder \"%s\" of the wallet file has group or world write access", folder),
				 errdetail("Others can remove the wallet, or put an older copy in its place."),
				 errhint("Run: chmod go-w %s", folder)));
}

void
tde_wallet_file_warn_place(const char *path)
{
	warn_writable(path);
	if (tde_wallet_file_is_inside(path))
		ereport(WARNING,
				(errmsg("wallet file \"%s\" is inside the data directory", path),
				 errdetail("Every base backup will hold the wallet beside the data that it protects."),
				 errhint("Move it elsewhere and set tde_column.wallet_file.")));
}
