/*
 * check_results.h - values that go to the client encrypted, to be decrypted by output functions, are looked at before.
 */
#ifndef TDE_CLIENT_CHECK_RESULTS_H
#define TDE_CLIENT_CHECK_RESULTS_H

#include "executor/execdesc.h"

/*
 * Around a run of the executor: puts a receiver before query->dest if the rows have encrypted values that output functions are going to decrypt.  It
 * throws what reading such a value under its column's declaration would throw (type/declared.h), and has tde.decryptions told of columns.
 *
 * decrypted: client/result_receiver.h decrypts columns of encrypted types, and arrays of them, in this run, and looks at these itself.  Its receiver
 * is put in before this one, and taken out after it.
 */
extern void tde_results_check_begin(QueryDesc *query, bool decrypted);

/* Takes the receiver out again and frees it; does nothing if there is none.  After an error the memory context goes with its parent. */
extern void tde_results_check_end(QueryDesc *query);

#endif							/* TDE_CLIENT_CHECK_RESULTS_H */
