/*
 * outputs.h - output arguments of a client's CALL in the base types.
 */
#ifndef TDE_CLIENT_OUTPUTS_H
#define TDE_CLIENT_OUTPUTS_H

#include "nodes/parsenodes.h"
#include "tcop/dest.h"

/* When CALL has been analyzed: let its result be described in the base types. */
extern void tde_outputs_describe(CallStmt *stmt);

/* Before it runs: who is to get its row, which is decrypted if that was done. */
extern DestReceiver *tde_outputs_receiver(CallStmt *stmt, DestReceiver *client);

#endif							/* TDE_CLIENT_OUTPUTS_H */
