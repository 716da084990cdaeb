/*
 * core.h - what is PostgreSQL's own, and what is the extension's.
 *
 * The schema does not say so: the types, operators and functions of this extension stand in pg_catalog beside PostgreSQL's.
 */
#ifndef TDE_TYPE_CORE_H
#define TDE_TYPE_CORE_H

#include "access/transam.h"

/* Returns true if initdb has made an object, or it is one of information_schema's. */
static inline bool
tde_is_core(Oid object)
{
	return object < FirstNormalObjectId;
}

/* Returns true if this object, of this catalog, is one of the extension's.  Scans pg_depend, of which nothing is remembered. */
extern PGDLLEXPORT bool tde_core_is_member(Oid catalog, Oid object);

/*
 * Returns PostgreSQL's own operator of this name that the parser would take for these types if there were no others (left: InvalidOid for one of one
 * operand); InvalidOid: there is none.  *left and *right become what it takes.
 */
extern PGDLLEXPORT Oid tde_core_operator(const char *name, Oid *left, Oid *right);

/*
 * Returns the operator of this name in a schema that the parser takes for these types (left: InvalidOid for one of one operand); InvalidOid: there is
 * none.  *left and *right become what it takes.
 */
extern Oid	tde_core_operator_for(Oid schema, const char *name, Oid *left, Oid *right);

/* The same in the schema of a type; InvalidOid if there is no such type.  The operators of an encrypted type stand beside it. */
extern Oid	tde_core_operator_with(Oid type, const char *name, Oid *left, Oid *right);

#endif							/* TDE_TYPE_CORE_H */
