/*
 * check_results.h - values that go to the client encrypted, to be decrypted by output functions, are looked at before.
 */
#ifndef TDE_CLIENT_CHECK_RESULTS_H
#define TDE_CLIENT_CHECK_RESULTS_H

#include "executor/execdesc.h"

/*
 * Around the run of a query whose result is not decrypted (client/receiver.h): returns what is to be put back into query->dest then;
 * NULL: nothing.
 */
extern DestReceiver *tde_results_check_begin(QueryDesc *query);

#endif							/* TDE_CLIENT_CHECK_RESULTS_H */
