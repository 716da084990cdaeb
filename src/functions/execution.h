/*
 * execution.h - PostgreSQL's hooks around the execution of a plan, and how hooks are installed.
 */
#ifndef TDE_FUNCTIONS_EXECUTION_H
#define TDE_FUNCTIONS_EXECUTION_H

#define TDE_INSTALL(hook, next, function) \
	do { \
		if (hook) \
			(next) = (hook); \
		(hook) = (function); \
	} while (0)

extern void tde_execution_install(void);

#endif							/* TDE_FUNCTIONS_EXECUTION_H */
