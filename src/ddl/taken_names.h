/*
 * taken_names.h - functions, operators, casts and types of others that would be called for encrypted values in place of PostgreSQL's or ours.
 */
#ifndef TDE_DDL_TAKEN_NAMES_H
#define TDE_DDL_TAKEN_NAMES_H

/*
 * Would a function, an operator, a cast or a type (catalog: its table) be called for encrypted values, or for the extension's own functions, by
 * those who mean another?  All that is refused or audited is decided here.  The schema of what they mean, "" for a cast; NULL: it would not.
 */
extern const char *tde_name_is_taken(Oid catalog, Oid object);

/* After it was made or altered: ereport if its name is taken, and the current user is no superuser. */
extern void tde_name_guard(Oid catalog, Oid object);

#endif							/* TDE_DDL_TAKEN_NAMES_H */
