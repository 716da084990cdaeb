/*
 * module.h - libraries beside this one, for what few need: modules/NAME makes tde_column_NAME.
 *
 * A module has no SQL objects: the core's script declares its functions in the core's library, which calls the module's (functions/modules.c).
 * So CREATE EXTENSION, dumps and pg_upgrade do without it.  A module may call what the core's headers mark PGDLLEXPORT, and nothing else; what the
 * core calls in it, besides such functions, stands in a structure of its own below.
 */
#ifndef TDE_SERVER_MODULE_H
#define TDE_SERVER_MODULE_H

#include "fmgr.h"

#include "server/compat.h"

/* What a module says of itself: a constant of the module, which is never unloaded. */
typedef struct TdeModule
{
	const char *name;			/* NAME of tde_column_NAME */
	const char *version;		/* of the core that it was built with; must be that of the one it is loaded by */
	void		(*init) (void); /* its settings and shared memory; NULL: it has none */
	const void *calls;			/* what the core calls; NULL: only SQL functions */
} TdeModule;

/* What a module has once.  It can be loaded only after the core, which has what it calls. */
#define TDE_MODULE(name_, init_, calls_) \
	TDE_LIBRARY_MAGIC("tde_column_" name_); \
	extern void _PG_init(void); \
	void \
	_PG_init(void) \
	{ \
		static const TdeModule module = {.name = (name_), .version = TDE_VERSION, .init = (init_), .calls = (calls_)}; \
\
		tde_module_register(&module); \
	} \
	extern void _PG_init(void)

/* From a module's _PG_init: calls its init once.  Throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if it is of another version. */
extern PGDLLEXPORT void tde_module_register(const TdeModule *module);

/* Returns the module, loaded now if need be; NULL if it is not installed, or cannot be loaded, of which a WARNING tells. */
extern const TdeModule *tde_module_load(const char *name);

/*
 * Returns a function of a module that has this name in C.  Throws ERRCODE_FEATURE_NOT_SUPPORTED if the module is not installed, with a hint what to
 * install.
 */
extern PGDLLEXPORT PGFunction tde_module_function(const char *name, const char *function);

#endif							/* TDE_SERVER_MODULE_H */
