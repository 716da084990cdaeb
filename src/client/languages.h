/*
 * languages.h - functions and statements of procedural languages that convert values by their types.
 */
#ifndef TDE_CLIENT_LANGUAGES_H
#define TDE_CLIENT_LANGUAGES_H

#include "fmgr.h"
#include "nodes/nodes.h"
#include "tcop/dest.h"
#include "utils/elog.h"

/* For the function manager's hooks: is a function of such a language?  And before each call of one. */
extern bool tde_language_converts(Oid function);
extern void tde_language_begin(FmgrInfo *function);

/*
 * Before a DO command of such a language runs: have its statements known as such.  The mark is for the caller's stack, where it stays until
 * he takes it off; false: it is no such command.
 */
extern bool tde_language_do(Node *stmt, ErrorContextCallback *mark);

/* The receiver of a statement's rows, before that runs: another one in front of it, if such a language runs it. */
extern DestReceiver *tde_language_spi_receiver(DestReceiver *receiver);

static inline DestReceiver *
tde_language_receiver(DestReceiver *receiver)
{
	return unlikely(receiver && receiver->mydest == DestSPI) ? tde_language_spi_receiver(receiver) : receiver;
}

/* PostgreSQL's trigger functions that fill a tsvector column, for encrypted columns. */
extern Datum tde_tsvector_update_trigger(PG_FUNCTION_ARGS);
extern Datum tde_tsvector_update_trigger_column(PG_FUNCTION_ARGS);

extern void tde_languages_init(void);

#endif							/* TDE_CLIENT_LANGUAGES_H */
