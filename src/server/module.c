/*
 * module.c - libraries beside this one, for what few need.
 */
#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/module.h"

static List *modules = NIL;		/* that are loaded */

/* Returns the module of this name, if it is loaded. */
static const TdeModule *
find(const char *name)
{
	ListCell   *cell;

	foreach(cell, modules)
		if (strcmp(((const TdeModule *) lfirst(cell))->name, name) == 0)
			return lfirst(cell);
	return NULL;
}

void
tde_module_register(const TdeModule *module)
{
	MemoryContext old;

	if (strcmp(module->version, TDE_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("module \"%s\" of tde_column is of version %s", module->name, module->version),
				 errdetail("tde_column itself is of version %s.", TDE_VERSION),
				 errhint("Install both of one version, and restart the server.")));
	if (find(module->name))
		return;
	if (module->init)
		module->init();
	old = MemoryContextSwitchTo(TopMemoryContext);
	modules = lappend(modules, (void *) module);
	MemoryContextSwitchTo(old);
}

static char *
library(const char *name)
{
	return psprintf("tde_column_%s", name);
}

/*
 * In PG_CATCH of what loads a library: ends the error, and returns it; NULL if there is no such file.  Nothing has happened that would have to be
 * cleaned up.  The SQLSTATE does not tell: dlopen() leaves any errno behind.
 */
static ErrorData *
caught(MemoryContext context)
{
	ErrorData  *error;
	bool		missing;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	missing = error->message_id && strncmp(error->message_id, "could not access file", strlen("could not access file")) == 0;
	return missing ? NULL : error;
}

const TdeModule *
tde_module_load(const char *name)
{
	MemoryContext context = CurrentMemoryContext;
	ErrorData  *error;

	if (find(name))
		return find(name);
	PG_TRY();
	{
		load_file(library(name), false);
	}
	PG_CATCH();
	{
		error = caught(context);
		if (error)
			ereport(WARNING,
					(errcode(error->sqlerrcode),
					 errmsg("module \"%s\" of tde_column is not loaded: %s", name, error->message),
					 error->detail ? errdetail("%s", error->detail) : 0,
					 error->hint ? errhint("%s", error->hint) : 0));
	}
	PG_END_TRY();
	return find(name);
}

PGFunction
tde_module_function(const char *name, const char *function)
{
	MemoryContext context = CurrentMemoryContext;
	PGFunction	found = NULL;
	ErrorData  *error;

	PG_TRY();
	{
		found = load_external_function(library(name), function, true, NULL);
	}
	PG_CATCH();
	{
		error = caught(context);
		if (error)
			ThrowErrorData(error);
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("module \"%s\" of tde_column is not installed", name),
				 errdetail("This function is in the library \"%s\", which the server does not find.", library(name)),
				 errhint("Install it: Debian's package is \"postgresql-%s-tde-column-%s\", and \"make install\" in the sources installs it, too.",
						 TDE_MAJOR_VERSION, name)));
	}
	PG_END_TRY();
	return found;
}
