/*
 * statements.h - clients get results in the base types.
 */
#ifndef TDE_CLIENT_STATEMENTS_H
#define TDE_CLIENT_STATEMENTS_H

#include "parser/parse_node.h"
#include "tcop/utility.h"

/* tde_column.transparent_results */
extern bool tde_transparent_results;

/* Has the library been loaded so early that no session has a statement that it did not see? */
extern bool tde_client_possible(void);

/* When a statement has been analyzed, and others have seen what the client wrote; may change it.  core: what tde_outputs_are_core() says. */
extern void tde_client_analyzed(ParseState *pstate, Query *query, bool core);

/* Are the catalogs transparent, as the settings are? */
extern bool tde_client_catalog_is_transparent(void);

/* With transparent catalogs, before a query is planned that has this text. */
extern void tde_client_plans(Query *query, const char *source);

/* Is this a utility command whose query is known again by its address, so that it must not be copied after this? */
extern bool tde_client_recognizes(Node *stmt);

/* Does the client itself run the utility command that begins, of this text? */
extern bool tde_client_sent(ProcessUtilityContext context, const char *source);

/* Before a utility command runs that may execute a prepared statement or fetch from a cursor; returns who is to get its rows. */
extern DestReceiver *tde_client_prepare(Node *stmt, DestReceiver *dest);

extern void tde_client_init(void);

#endif							/* TDE_CLIENT_STATEMENTS_H */
