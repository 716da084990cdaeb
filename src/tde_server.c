/*
 * tde_server.c - which server is this one.
 */
#include "postgres.h"

#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "access/xlog.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "tde_error.h"
#include "tde_server.h"

/* What systemd and D-Bus know a machine by; in containers often empty or not there, and the host name has to do. */
#define MACHINE_ID_FILE "/etc/machine-id"

static void
host_name(char name[MAXPGPATH])
{
	if (gethostname(name, MAXPGPATH) != 0)
		strlcpy(name, "localhost", MAXPGPATH);
	name[MAXPGPATH - 1] = '\0';
}

static void
machine(char id[MAXPGPATH])
{
	FILE	   *file = AllocateFile(MACHINE_ID_FILE, "r");
	bool		found = file != NULL && fgets(id, MAXPGPATH, file) != NULL && id[0] != '\0' && id[0] != '\n';

	if (file != NULL)
		FreeFile(file);
	if (!found)
		host_name(id);
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
	host_name(host);
	words = psprintf("%s on %s", DataDir, host);
	length = pg_encoding_mbcliplen(PG_UTF8, words, strlen(words), sizeof(here->name) - 1);
	memcpy(here->name, words, length);
	pfree(words);
}
