/*
 * citus_settings.c - what a server with Citus has that tells so, and nothing else of it: a setting.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static char *version = NULL;

void
_PG_init(void)
{
	DefineCustomStringVariable("citus.version", "Of no Citus.", NULL, &version, "none", PGC_INTERNAL, 0, NULL, NULL, NULL);
}
