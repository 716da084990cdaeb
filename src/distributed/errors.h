/*
 * errors.h - errors about keys tell which node they are from.
 */
#ifndef TDE_DISTRIBUTED_ERRORS_H
#define TDE_DISTRIBUTED_ERRORS_H

/* For the hook of the log, whose entry is what the client gets: if the client is another node of Citus, the detail names this server. */
extern void tde_distributed_error(ErrorData *edata);

#endif							/* TDE_DISTRIBUTED_ERRORS_H */
