/*
 * names.h - names of keys, and keys that a declaration names and nobody has made.
 */
#ifndef TDE_KEYS_NAMES_H
#define TDE_KEYS_NAMES_H

/* Returns true if this, behind "key=", is the number of a slot and not a name. */
extern bool tde_keys_is_number(const char *name);

/* Throws ERRCODE_INVALID_NAME on what no new key can be called: a number, or the name of a key that every database has. */
extern void tde_keys_check_name(const char *name);

/* GUC tde_column.create_missing_keys: a declaration makes the key that it names and nobody has made. */
extern bool tde_create_missing_keys;

/*
 * Makes the key of this name, which a declaration wants and nobody has made, with a NOTICE to the user and a line in the log.  Returns its slot, also
 * if somebody else has made it meanwhile.  Throws ERRCODE_INSUFFICIENT_PRIVILEGE if the user may not make keys.
 */
extern int32 tde_keys_make_missing(const char *name);

#endif							/* TDE_KEYS_NAMES_H */
