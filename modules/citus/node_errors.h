/*
 * node_errors.h - errors about keys tell which node they are from; what Citus refuses because of encryption says what to do instead.
 */
#ifndef TDE_CITUS_NODE_ERRORS_H
#define TDE_CITUS_NODE_ERRORS_H

/* For the hook of the log, whose entry is what the client gets.  If the client is another node of Citus, the detail names this server. */
extern void tde_citus_name_server(ErrorData *edata);

/* An error context callback while Citus plans a Query (the argument): adds a hint to the error for a join that it does not do. */
extern void tde_citus_explain(void *query);

#endif							/* TDE_CITUS_NODE_ERRORS_H */
