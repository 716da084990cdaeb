/*
 * required.h - the setting tde_column.require: standards that what is encrypted has to satisfy.
 *
 * The setting is a list of standards.  A specification that one of them excludes is refused where a column is declared (ddl/) and where a value for a
 * column is encrypted (type/datum_encrypt.c).  What is stored already stays readable.
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

extern PGDLLEXPORT int tde_required;	/* bits of the standards that the setting names; 0: none */

/* Sets the bits of a list of words, C strings.  Returns false if one is not known; for the GUC's check hook, so it does not throw. */
extern PGDLLEXPORT bool tde_required_parse(List *words, int *required);

/*
 * A kind of encryption that is excluded, and the standards that do so: constants of required.c.  The functions return the first one that a required
 * standard excludes this specification by; NULL: none does.  The second one also considers how this server runs, such as without a FIPS provider.
 */
typedef struct TdeExclusion TdeExclusion;
extern PGDLLEXPORT const TdeExclusion *tde_required_excludes(TdeSpec spec);
extern const TdeExclusion *tde_required_excludes_here(TdeSpec spec);

/* Returns "fips excludes triple DES", for example, palloc'd. */
extern PGDLLEXPORT char *tde_required_text(const TdeExclusion *exclusion);

/* Throws ERRCODE_FEATURE_NOT_SUPPORTED, with the standard's reason as the detail. */
pg_noreturn extern void tde_required_refuse(const TdeExclusion *exclusion);

/* Throws unless values may be encrypted so.  It is quick where nothing is required. */
static inline void
tde_required_check(TdeSpec spec)
{
	const TdeExclusion *exclusion = unlikely(tde_required != 0) ? tde_required_excludes_here(spec) : NULL;

	if (unlikely(exclusion != NULL))
		tde_required_refuse(exclusion);
}

/* Something of this server that is in a standard's way, whatever columns declare. */
typedef struct TdeObstacle
{
	const char *standard;
	const char *severity;		/* of tde_audit() */
	const char *finding;
	const char *hint;
} TdeObstacle;

/* Returns a list of TdeObstacle, palloc'd; the texts are constants. */
extern PGDLLEXPORT List *tde_required_obstacles(void);

/* Reports each obstacle at this level: to the log when the server starts, to the user when he opens the wallet. */
extern void tde_required_report(int elevel);

#endif							/* TDE_KEYS_REQUIRED_H */
