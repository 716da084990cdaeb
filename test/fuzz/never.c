/*
 * never.c - what the files of src call of a server where no harness leads them, under the names of all versions.
 */
#include <stdlib.h>

#define NEVER(name) extern void name(void); void name(void) { abort(); }

NEVER(buildoidvector)
NEVER(GetCurrentStatementStartTimestamp)
NEVER(GetOuterUserId)
NEVER(GetSysCacheOid)
NEVER(GetUserId)
NEVER(object_aclcheck)
NEVER(pg_proc_aclcheck)
NEVER(tde_rights_superuser)
NEVER(tde_extension_may_execute)
NEVER(tde_extension_schema)
