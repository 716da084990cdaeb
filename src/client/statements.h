/*
 * statements.h - clients get results in the base types.
 */
#ifndef TDE_CLIENT_STATEMENTS_H
#define TDE_CLIENT_STATEMENTS_H

/* tde_column.transparent_results */
extern bool tde_transparent_results;

/* Has the library been loaded so early that no session has a statement that it did not see? */
extern bool tde_transparent_possible(void);

extern void tde_transparent_init(void);

#endif							/* TDE_CLIENT_STATEMENTS_H */
