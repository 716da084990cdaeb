/*
 * tde_stored_spec.h - the values that a statement stores get their columns' specifications.
 *
 * layer: 9
 */
#ifndef TDE_STORED_SPEC_H
#define TDE_STORED_SPEC_H

extern void tde_stored_spec_init(void);

#endif							/* TDE_STORED_SPEC_H */
