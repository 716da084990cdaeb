/*
 * under_way.h - whether a column is being converted, as the table's triggers say.
 */
#ifndef TDE_CONVERSION_UNDER_WAY_H
#define TDE_CONVERSION_UNDER_WAY_H

#include "utils/rel.h"

#include "server/compat.h"

/* What a trigger's arguments say: 'copy', source, target; or 'erase', column, its converted copy; with an opener the function behind that. */
typedef struct TdeRoles
{
	const char *source;			/* NULL: the target is erased */
	const char *target;			/* the helper column */
	const char *original;		/* what it is the copy of, or is replaced by */
	const char *opener;			/* the function that makes clear values of what is stored; NULL: none, one is encrypted, the other of its base type */
} TdeRoles;

/* Throws ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED: this is no trigger of a conversion. */
pg_noreturn extern void tde_under_way_refuse(void);

/*
 * Reads what the trigger, which calls tde_convert_trigger(), has to do, into *roles, whose strings are the trigger's own.  Throws as
 * tde_under_way_refuse() does, or ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if others have changed what it needs.
 */
extern void tde_under_way_read(Relation rel, const Trigger *trigger, TdeRoles *roles);

/* A conversion that is under way. */
typedef struct TdeUnderWay
{
	char	   *opener;			/* palloc'd, or NULL */
	bool		is_late;		/* a partition that got the trigger later than its table: its rows may have copies that nobody has kept */
} TdeUnderWay;

/*
 * Returns true, and the conversion, if one of the table is under way that sets the target from the source, or to NULL without one.  Throws
 * ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if its trigger is not enabled as the owner's.
 */
extern bool tde_under_way_find(Relation rel, const char *source, const char *target, TdeUnderWay *found);

#endif							/* TDE_CONVERSION_UNDER_WAY_H */
