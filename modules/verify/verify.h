/*
 * verify.h - what is wrong with the encrypted values of tables, and with the indexes over them.
 */
#ifndef TDE_VERIFY_VERIFY_H
#define TDE_VERIFY_VERIFY_H

#include "nodes/execnodes.h"
#include "utils/resowner.h"

#include "maintenance/usage_scan.h"
#include "server/counters.h"
#include "type/inside.h"

typedef struct TdeVerification
{
	TdeScan		scan;			/* the first, so that its callbacks find the rest */
	ReturnSetInfo *result;
	bool		indexes;		/* are they wanted, too? */
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
	ResourceOwner inside;
} TdeVerification;

/* ---- problems.c ---- */

/* Something is wrong with a row, or an entry (tid not valid: of no row), of the relation that is read; column 0: with none in particular. */
extern void tde_verify_problem(TdeVerification *verification, ItemPointer tid, AttrNumber column, int code, const char *problem);

/* The same, said by an error that was caught. */
extern void tde_verify_problem_caught(TdeVerification *verification, ItemPointer tid, AttrNumber column, const ErrorData *error);

/* Is it about what is stored?  Others end the command: a cancellation, a wallet that was closed, no memory. */
extern bool tde_verify_is_problem(const ErrorData *error);

/* ---- attempts.c ---- */

/*
 * Do what may fail because of what is stored.  The error; NULL: it did not fail.  Anything that has to be released is, with the attempt's
 * subtransaction, of which there is one for many attempts in turn.
 */
typedef void (*TdeAttempt) (void *arg);
extern ErrorData *tde_attempt(TdeVerification *verification, TdeAttempt attempt, void *arg);
extern void tde_attempts_end(TdeVerification *verification);

/* The same for much, which has attempts inside: in a subtransaction of its own. */
extern ErrorData *tde_attempt_whole(TdeVerification *verification, TdeAttempt attempt, void *arg);

/* ---- entries.c ---- */

/* Before an index is read: the entries of a btree are then compared with their rows.  Afterwards: is any missing?  Both in one attempt. */
extern void tde_entries_begin(TdeVerification *verification);
extern void tde_entries_end(TdeVerification *verification);

#endif							/* TDE_VERIFY_VERIFY_H */
