/*
 * statements.h - clients get results in the base types.
 */
#ifndef TDE_CLIENT_STATEMENTS_H
#define TDE_CLIENT_STATEMENTS_H

#include "parser/parse_node.h"
#include "tcop/utility.h"

/* GUC tde_column.transparent_results, which every role may set; on by default where tde_client_possible(). */
extern bool tde_transparent_results;

/*
 * Returns true if the library was preloaded, so that no session has a statement that it did not see.  Otherwise clients get encrypted columns as
 * these are.
 */
extern bool tde_client_possible(void);

/*
 * When a statement has been analyzed, and others have seen what the client wrote: changes the query so that its result, and open parameters, have the
 * base types, if it is a client's own.  core: what tde_outputs_are_core() says of it.
 */
extern void tde_client_analyzed(ParseState *pstate, Query *query, bool core);

/* Returns true if catalogs are to tell base types: by both settings, and the form of values that is asked for. */
extern bool tde_client_catalog_is_transparent(void);

/* With transparent catalogs, before a query with this text is planned: has the catalogs that a client's own query reads tell base types. */
extern void tde_client_plans(Query *query, const char *source);

/*
 * Returns true for a utility command whose query is known again by its address: EXPLAIN and DECLARE.  It must not be copied after this, and is copied
 * before if somebody else has the tree.
 */
extern bool tde_client_recognizes(Node *stmt);

/* Returns true if the client itself has sent the utility command of this text that begins, and no function or other command runs it. */
extern bool tde_client_sent(ProcessUtilityContext context, const char *source);

/*
 * Before a utility command runs: returns who is to get its rows, dest or a receiver before it, in the current memory context.  Lets FETCH read
 * cursors WITH HOLD, and has EXECUTE keep decrypted rows in memory.
 *
 * Throws ERRCODE_FEATURE_NOT_SUPPORTED for CREATE TABLE AS EXECUTE of a statement that was prepared to decrypt.
 */
extern DestReceiver *tde_client_prepare(Node *stmt, DestReceiver *dest);

/* From _PG_init, before settings are defined. */
extern void tde_client_init(void);

#endif							/* TDE_CLIENT_STATEMENTS_H */
