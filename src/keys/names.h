/*
 * names.h - names of keys, and keys that a declaration names and nobody has made.
 */
#ifndef TDE_KEYS_NAMES_H
#define TDE_KEYS_NAMES_H

/* Is this, behind "key=", the number of a slot and not a name? */
extern bool tde_keys_is_number(const char *name);

/* ereport on what no new key can be called: a number, or the name of one that every database has. */
extern void tde_keys_check_name(const char *name);

/* GUC */
extern bool tde_create_missing_keys;

/* The key of this name, which a declaration wants and nobody has made; returns its slot.  ereport if the user may not make keys. */
extern int32 tde_keys_make_missing(const char *name);

#endif							/* TDE_KEYS_NAMES_H */
