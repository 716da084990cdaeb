/*
 * key_errors.h - errors about the key of an index or a partition name its expressions as they were declared.
 */
#ifndef TDE_CLIENT_KEY_ERRORS_H
#define TDE_CLIENT_KEY_ERRORS_H

/* An ErrorContextCallback, around what may insert rows. */
extern void tde_key_errors_explain(void *arg);

#endif							/* TDE_CLIENT_KEY_ERRORS_H */
