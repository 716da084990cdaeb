/*
 * origin.h - the column that a value in a running query comes from.
 */
#ifndef TDE_DECRYPTIONS_ORIGIN_H
#define TDE_DECRYPTIONS_ORIGIN_H

#include "executor/execdesc.h"

#include "type/type.h"

/* A query has been started: from now on its columns are known. */
extern void tde_origin_started(QueryDesc *query);

/* Is it the only one that has been started and not ended? */
extern bool tde_origin_is_only(QueryDesc *query);

/* Of a column of the query's result. */
extern TdeColumn tde_origin_of_result(QueryDesc *query, int index);

/* Of an expression in a plan that is running; unknown of all others, and of one that has values of several columns. */
extern TdeColumn tde_origin_of(Node *expr);

/* Of a value that COPY gives out of a table, as it stands in the table's page. */
extern TdeColumn tde_origin_of_copied(Oid table, Oid type, const char *value);

#endif							/* TDE_DECRYPTIONS_ORIGIN_H */
