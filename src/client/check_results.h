/*
 * check_results.h - values that go to the client encrypted, to be decrypted by output functions, are looked at before.
 */
#ifndef TDE_CLIENT_CHECK_RESULTS_H
#define TDE_CLIENT_CHECK_RESULTS_H

#include "executor/execdesc.h"

/*
 * Before the run of a query; decrypted: its columns of encrypted types, and arrays of them, are (client/result_receiver.h), which begins before
 * this does and ends after it.
 */
extern void tde_results_check_begin(QueryDesc *query, bool decrypted);
extern void tde_results_check_end(QueryDesc *query);

#endif							/* TDE_CLIENT_CHECK_RESULTS_H */
