/*
 * opened.c - a value is given out in clear: to who may see it, and counted by its column, for tde.decryptions.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "server/compat.h"
#include "server/module.h"
#include "type/opened.h"

const TdeDecryptionsCalls *tde_decryptions = NULL;
bool		tde_track_decryptions = false;

bool
tde_opened_permits(FunctionCallInfo fcinfo, int arg)
{
	if (!tde_access_permits_argument(tde_call(fcinfo), arg, PG_GETARG_DATUM(arg)))
		return false;
	if (tde_track_decryptions)
		tde_decryptions->add_argument(fcinfo, arg);
	return true;
}

void
tde_opened_check_watched(FunctionCallInfo fcinfo, int arg)
{
	if (!tde_opened_permits(fcinfo, arg))
		tde_access_refuse(tde_call(fcinfo)->proc->args[arg]);
}

void
tde_opened_assign_tracking(bool newval, void *extra)
{
	tde_access_watched = tde_access_restricted || newval;
	if (tde_decryptions)
		tde_decryptions->assign(newval);
}

/* It has shared memory, and settings of its own. */
void
tde_opened_init(void)
{
	const TdeModule *module = process_shared_preload_libraries_in_progress ? tde_module_load("decryptions") : NULL;

	tde_decryptions = module ? module->calls : NULL;
}
