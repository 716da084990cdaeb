/*
 * server.c - which server this is, so that a wallet can say whose it is.
 *
 * A wallet is changed by one server.  Of two that change copies of one wallet, each would lack the other's master keys, and a purge by one could take
 * away what the other needs.
 */
#include "postgres.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "server/error.h"
#include "wallet/wallet.h"

/* What systemd and D-Bus know a machine by.  Containers often have none, and host names that change with each start say nothing. */
#define MACHINE_ID_FILE "/etc/machine-id"

/* Reads the machine's id, with its newline; empty if there is none. */
static void
machine(char id[MAXPGPATH])
{
	FILE	   *file = AllocateFile(MACHINE_ID_FILE, "r");

	if (file == NULL || fgets(id, MAXPGPATH, file) == NULL)
		id[0] = '\0';
	if (file != NULL)
		FreeFile(file);
}

/* The data directory's inode: a copy has another one, even where the copy has the same path, and a directory that is renamed keeps it. */
static uint64
data_directory(void)
{
	struct stat st;

	if (stat(DataDir, &st) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not stat file \"%s\": %m", DataDir)));
	return (uint64) st.st_ino;
}

/* The name is for people, in messages.  It is cut between characters of UTF-8. */
void
tde_server_here(TdeServer *here)
{
	char		id[MAXPGPATH];
	char		host[MAXPGPATH];
	char	   *words;
	int			length;

	memset(here, 0, sizeof(*here));
	machine(id);
	words = psprintf(UINT64_FORMAT " " UINT64_FORMAT " %s", GetSystemIdentifier(), data_directory(), id);
	tde_check(EVP_Digest(words, strlen(words), here->id, NULL, EVP_sha256(), NULL) == 1 ? TDE_OK : TDE_E_CRYPTO);
	pfree(words);
	if (gethostname(host, sizeof(host)) != 0)
		strlcpy(host, "localhost", sizeof(host));
	host[sizeof(host) - 1] = '\0';
	words = psprintf("%s on %s", DataDir, host);
	length = pg_encoding_mbcliplen(PG_UTF8, words, strlen(words), sizeof(here->name) - 1);
	memcpy(here->name, words, length);
	pfree(words);
}

bool
tde_server_owns(const TdeServer *owner)
{
	TdeServer	here;

	tde_server_here(&here);
	return owner->name[0] == '\0' || memcmp(owner->id, here.id, sizeof(here.id)) == 0;
}
