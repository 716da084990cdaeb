/*
 * stored_spec.h - the values that a statement stores get their columns' specifications.
 */
#ifndef TDE_DDL_STORED_SPEC_H
#define TDE_DDL_STORED_SPEC_H

extern void tde_stored_spec_init(void);

#endif							/* TDE_DDL_STORED_SPEC_H */
