/*
 * hooks.h - the one place where PostgreSQL's hooks call this extension.
 */
#ifndef TDE_FUNCTIONS_HOOKS_H
#define TDE_FUNCTIONS_HOOKS_H

extern void tde_hooks_init(void);

#endif							/* TDE_FUNCTIONS_HOOKS_H */
