/*
 * taken_names.h - functions, operators, casts and types of others that would be called for encrypted values in place of PostgreSQL's or ours.
 */
#ifndef TDE_DDL_TAKEN_NAMES_H
#define TDE_DDL_TAKEN_NAMES_H

/*
 * Tells whether a function, an operator, a cast or a type (catalog: its table) would be called for encrypted values, or for the extension's own
 * functions, by those who mean another.  Returns the schema of what they mean, "" for a cast; NULL if it would not be called.  All that is refused or
 * audited is decided here.  What is not there, or is PostgreSQL's or the extension's own, gives NULL.
 */
extern const char *tde_name_is_taken(Oid catalog, Oid object);

/*
 * Throws ERRCODE_INSUFFICIENT_PRIVILEGE if the name of such an object is taken and the current user is no superuser.  The event trigger calls it
 * after the object was made or altered.
 */
extern void tde_name_guard(Oid catalog, Oid object);

#endif							/* TDE_DDL_TAKEN_NAMES_H */
