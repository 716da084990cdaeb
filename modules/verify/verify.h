/*
 * verify.h - what is wrong with the encrypted values of tables, and with the indexes over them.
 *
 * One TdeVerification goes through all tables of a call.  A problem becomes a row of the result, and the command goes on; only errors that say
 * nothing of what is stored end it.
 */
#ifndef TDE_VERIFY_VERIFY_H
#define TDE_VERIFY_VERIFY_H

#include "nodes/execnodes.h"
#include "utils/resowner.h"

#include "maintenance/usage_scan.h"
#include "server/counters.h"
#include "type/inside.h"

/* A call of tde_verify_table(), and what is read at the moment. */
typedef struct TdeVerification
{
	TdeScan		scan;			/* the first, so that its callbacks find the rest */
	ReturnSetInfo *result;
	bool		indexes;		/* they are wanted, too */
	TdeProgress progress;
	Relation	rel;			/* the table or index that is read */
	Relation	table;			/* of that index; NULL: it is a table */
	const char *name;			/* of that table, for errors */
	const char *literal;		/* the same for SQL */
	TdeInside **columns;		/* of its columns, by number - 1; NULL where nothing is encrypted */
	int64		problems;		/* so far */
	struct TdeEntries *entries; /* of the index that is read, if they are compared with rows */

	/* the subtransaction of attempts; 0: there is none */
	int			attempts;
	ResourceOwner outside;
	ResourceOwner inside;		/* the subtransaction's */
} TdeVerification;

/* ---- problems.c ---- */

/*
 * Adds a row to the result: something is wrong with a row, or an entry (tid not valid: of no row), of the relation that is read.  column 0: with none
 * in particular.  code: an SQLSTATE.
 */
extern void tde_verify_problem(TdeVerification *verification, ItemPointer tid, AttrNumber column, int code, const char *problem);

/* Adds the same, said by an error that was caught. */
extern void tde_verify_problem_caught(TdeVerification *verification, ItemPointer tid, AttrNumber column, const ErrorData *error);

/* Returns true if it is about what is stored.  Others end the command: a cancellation, a wallet that was closed, no memory. */
extern bool tde_verify_is_problem(const ErrorData *error);

/* ---- attempts.c ---- */

/*
 * Does what may fail because of what is stored.  Returns the error; NULL: it did not fail.  Anything that has to be released is, with the attempt's
 * subtransaction, of which there is one for many attempts in turn; tde_attempts_end() ends it.
 */
typedef void (*TdeAttempt) (void *arg);
extern ErrorData *tde_attempt(TdeVerification *verification, TdeAttempt attempt, void *arg);
extern void tde_attempts_end(TdeVerification *verification);

/* Does the same for much, which has attempts inside: in a subtransaction of its own. */
extern ErrorData *tde_attempt_whole(TdeVerification *verification, TdeAttempt attempt, void *arg);

/* ---- entries.c ---- */

/*
 * The former is called before an index is read: the entries of a btree are then compared with their rows.  The latter afterwards: it looks whether
 * any is missing.  Both are in one attempt.
 */
extern void tde_entries_begin(TdeVerification *verification);
extern void tde_entries_end(TdeVerification *verification);

#endif							/* TDE_VERIFY_VERIFY_H */
