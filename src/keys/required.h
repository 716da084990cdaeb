/*
 * required.h - the setting tde_column.require: standards that what is encrypted has to satisfy.
 */
#ifndef TDE_KEYS_REQUIRED_H
#define TDE_KEYS_REQUIRED_H

#include "nodes/pg_list.h"

#include "crypto/spec.h"
#include "server/compat.h"

#define TDE_REQUIRE_FIPS	0x01
#define TDE_REQUIRE_PCI		0x02
#define TDE_REQUIRE_CNSA2	0x04
#define TDE_REQUIRE_ALL		0x07

extern PGDLLEXPORT int tde_required;	/* these */

/* The words of the setting's list; false if one is not known. */
extern PGDLLEXPORT bool tde_required_parse(List *words, int *required);

/* What encryption is excluded, and the standard that does so; NULL: it is not.  here: by this server as it runs, too. */
typedef struct TdeExclusion TdeExclusion;
extern PGDLLEXPORT const TdeExclusion *tde_required_excludes(TdeSpec spec);
extern const TdeExclusion *tde_required_excludes_here(TdeSpec spec);
extern PGDLLEXPORT char *tde_required_text(const TdeExclusion *exclusion);

pg_noreturn extern void tde_required_refuse(const TdeExclusion *exclusion);

/* ereport if values are not to be encrypted so; quick where nothing is required. */
static inline void
tde_required_check(TdeSpec spec)
{
	const TdeExclusion *exclusion = unlikely(tde_required != 0) ? tde_required_excludes_here(spec) : NULL;

	if (unlikely(exclusion != NULL))
		tde_required_refuse(exclusion);
}

/* What this server has in the way, whatever columns declare. */
typedef struct TdeObstacle
{
	const char *standard;
	const char *severity;		/* of tde_audit() */
	const char *finding;
	const char *hint;
} TdeObstacle;

/* Of TdeObstacle, the shared ones of a table. */
extern PGDLLEXPORT List *tde_required_obstacles(void);

/* Tells of them: when the server starts, and when somebody opens the wallet. */
extern void tde_required_report(int elevel);

#endif							/* TDE_KEYS_REQUIRED_H */
