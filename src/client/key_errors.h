/*
 * key_errors.h - errors about the key of an index or a partition name its expressions as they were declared.
 */
#ifndef TDE_CLIENT_KEY_ERRORS_H
#define TDE_CLIENT_KEY_ERRORS_H

/*
 * An ErrorContextCallback, without argument, to be put around what may insert rows: INSERT, UPDATE and the like, COPY, CREATE INDEX.  Changes the
 * detail of an error about a key, such as ERRCODE_UNIQUE_VIOLATION, that names a call of tde_computed().
 */
extern void tde_key_errors_explain(void *arg);

#endif							/* TDE_CLIENT_KEY_ERRORS_H */
