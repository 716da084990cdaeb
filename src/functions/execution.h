/*
 * execution.h - PostgreSQL's hooks around the execution of a plan, and how hooks are installed.
 */
#ifndef TDE_FUNCTIONS_EXECUTION_H
#define TDE_FUNCTIONS_EXECUTION_H

/* Puts a function of ours into a hook.  next: what it is to call; it keeps PostgreSQL's own function if the hook was empty. */
#define TDE_INSTALL(hook, next, function) \
	do { \
		if (hook) \
			(next) = (hook); \
		(hook) = (function); \
	} while (0)

/* Installs the hooks of the executor.  To be called once in each process, by install() (functions/hooks.c). */
extern void tde_execution_install(void);

#endif							/* TDE_FUNCTIONS_EXECUTION_H */
