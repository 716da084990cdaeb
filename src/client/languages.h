/*
 * languages.h - functions and statements of procedural languages that convert values by their types.
 */
#ifndef TDE_CLIENT_LANGUAGES_H
#define TDE_CLIENT_LANGUAGES_H

#include "fmgr.h"
#include "nodes/nodes.h"
#include "tcop/dest.h"
#include "utils/elog.h"

/*
 * For needs_fmgr_hook: returns true if a function is of such a language, so that the function manager's hook is to be called for it.  Called whenever
 * a function that is not built in is looked up.
 */
extern bool tde_language_converts(Oid function);

/*
 * For fmgr_hook, before each call of such a function: has our handler called in place of the language's.  Throws ERRCODE_FEATURE_NOT_SUPPORTED if the
 * function declares a parameter or result of an encrypted type of which its language would make something else than of the base type.
 */
extern void tde_language_begin(FmgrInfo *function);

/*
 * Before a DO command runs: returns true, and fills in *mark, if it is in such a language.  The caller puts the mark on the error context stack, in
 * his own memory, and takes it off when the command has run; by it the command's statements are known.
 */
extern bool tde_language_do(Node *stmt, ErrorContextCallback *mark);

/* Returns another receiver in front of one of SPI's, if a statement that is about to run is such a language's; the same otherwise. */
extern DestReceiver *tde_language_spi_receiver(DestReceiver *receiver);

/*
 * Returns the same for any receiver, which may be NULL.  Each statement asks, before it runs, while the error context stack is as its caller has left
 * it.
 */
static inline DestReceiver *
tde_language_receiver(DestReceiver *receiver)
{
	return unlikely(receiver && receiver->mydest == DestSPI) ? tde_language_spi_receiver(receiver) : receiver;
}

/* SQL functions: PostgreSQL's trigger functions that fill a tsvector column, for encrypted columns.  Triggers get them by ddl/text_search.c. */
extern Datum tde_tsvector_update_trigger(PG_FUNCTION_ARGS);
extern Datum tde_tsvector_update_trigger_column(PG_FUNCTION_ARGS);

/* From _PG_init. */
extern void tde_languages_init(void);

#endif							/* TDE_CLIENT_LANGUAGES_H */
