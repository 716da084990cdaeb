/*
 * check_results.h - values that go to the client encrypted, to be decrypted by output functions, are looked at before.
 */
#ifndef TDE_CLIENT_CHECK_RESULTS_H
#define TDE_CLIENT_CHECK_RESULTS_H

#include "executor/execdesc.h"

/* Before the run of a query whose result is not decrypted (client/receiver.h); query->dest is to be put back then. */
extern void tde_results_check_begin(QueryDesc *query);

#endif							/* TDE_CLIENT_CHECK_RESULTS_H */
