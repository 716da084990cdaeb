/*
 * origin.h - the column that a value in a running query comes from.
 */
#ifndef TDE_DECRYPTIONS_ORIGIN_H
#define TDE_DECRYPTIONS_ORIGIN_H

#include "executor/execdesc.h"

#include "type/type.h"

/* A query has been started: from now on its columns are known, until its memory goes. */
extern void tde_origin_started(QueryDesc *query);

/* Returns true if it is the only one that has been started and not ended. */
extern bool tde_origin_is_only(QueryDesc *query);

/* Returns the column that a column of the query's result, from 0 on, comes from; TDE_NO_COLUMN: it is none, or several. */
extern TdeColumn tde_origin_of_result(QueryDesc *query, int index);

/* Returns the same of an expression in a plan that is running.  It is unknown of all others, and of one that has values of several columns. */
extern TdeColumn tde_origin_of(Node *expr);

/* Returns the same of a value that COPY gives out of a table, as it stands in the table's page. */
extern TdeColumn tde_origin_of_copied(Oid table, Oid type, const char *value);

#endif							/* TDE_DECRYPTIONS_ORIGIN_H */
