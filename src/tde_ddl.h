/*
 * tde_ddl.h - columns that are declared without modifiers get the default specification; keys are made where columns are
 * declared.
 *
 * layer: 9
 */
#ifndef TDE_DDL_H
#define TDE_DDL_H

extern void tde_ddl_init(void);

/* Make the keys that the columns and domains of this database declare; false if some could not be made. */
extern bool tde_ddl_ensure_declared_keys(void);

#endif							/* TDE_DDL_H */
