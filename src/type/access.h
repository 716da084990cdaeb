/*
 * access.h - who may see values in clear: members of tde_column.decrypt_role, if it is set.
 *
 * To be asked by every function that hands a plaintext to SQL: output, casts, arithmetic, parts of values.  Not by those that
 * comparisons, indexes, hashes and sorts use, and not by those whose result is encrypted again: whoever may only write needs
 * them for unique checks, foreign keys and partitions.
 *
 * A constant under the catalog's key is not a column's value but what somebody wrote into a statement, a default or a view.
 * It is shown to everybody, as PostgreSQL does; EXPLAIN and \d would fail otherwise.  So nobody may turn a column's value
 * into such a constant who may not decrypt it.
 */
#ifndef TDE_TYPE_ACCESS_H
#define TDE_TYPE_ACCESS_H

#include "keys/cache.h"
#include "server/statement.h"
#include "type/type.h"

/* What a client's result shows of a value that it may not see. */
typedef enum TdeDecryptPolicy
{
	TDE_POLICY_ERROR,
	TDE_POLICY_NULL,
	TDE_POLICY_MASK
} TdeDecryptPolicy;

extern char *tde_decrypt_role;
extern int	tde_decrypt_policy;

/* Is tde_column.decrypt_role set?  Most of the time not, and then nothing else is looked at. */
extern PGDLLEXPORT bool tde_access_restricted;

/* Is a value to be looked at before it is given out: because of that, or because tde.decryptions counts it?  Likewise. */
extern bool tde_access_watched;

/* May the current user decrypt?  Inside a SECURITY DEFINER function that is its owner. */
extern bool tde_access_is_permitted(void);

/* May the current user see this value? */
extern PGDLLEXPORT bool tde_access_permits(TdeType *type, Datum value);

/* ereport that the user may not see values of this type. */
pg_noreturn extern void tde_access_refuse(TdeType *type);

static inline void
tde_access_check(TdeType *type, Datum value)
{
	if (unlikely(tde_access_restricted) && !tde_access_permits(type, value))
		tde_access_refuse(type);
}

/* The same for an argument of a call: who sees its column in clear may decrypt it. */
extern bool tde_access_permits_argument(TdeCall *call, int arg, Datum value);

static inline void
tde_access_check_argument(TdeCall *call, int arg, Datum value)
{
	if (unlikely(tde_access_restricted) && !tde_access_permits_argument(call, arg, value))
		tde_access_refuse(call->proc->args[arg]);
}

/* What a client's result has instead of such a value, if its column has no mask for the user: as the policy says. */
extern Datum tde_access_result(TdeType *type, int32 base_typmod, bool *isnull);

/*
 * What an output function gives instead of a value that the user may not see.  PostgreSQL quotes values in the details of errors,
 * "Key (a)=(...) already exists": if the function refused then, a role that may only write would not be told what is wrong with its
 * row.  So while a statement that changes data is running, this is a text that says nothing; if it goes anywhere else than into
 * an error, the statement fails when it has come to its end, so that the text is not stored in place of a value.  While it ends,
 * its plan may be printed (auto_explain), with values that a function's variables had, and nothing else be done with the text.
 * Elsewhere this fails at once.
 */
extern char *tde_access_hidden(TdeType *type);

/* Before and after a part of a statement in which this may happen.  begin returns what end, or an error, is to restore. */
extern TdeStatement tde_access_begin(bool changes_data);
extern TdeStatement tde_access_begin_end(void);
extern void tde_access_end(TdeStatement outer);

/*
 * Comparisons are LEAKPROOF: PostgreSQL evaluates them on rows that row level security hides.  So all that they say of a value that cannot be read
 * is that it is not authentic, whatever the reason.  Who is not subject to row level security gets the reason, and the server log has it.
 */
extern bool tde_access_may_know_reason(void);
pg_noreturn extern void tde_access_throw_alike(const char *reason);

/* tde_key_for_reading() with such errors. */
extern const TdeKey *tde_access_key_for_comparing(uint32 id, TdeSpec spec, const uint8 type_tag[TDE_TYPE_TAG_SIZE]);

/* Of the setting. */
extern void tde_access_assign_role(const char *newval, void *extra);

extern void tde_access_init(void);

#endif							/* TDE_TYPE_ACCESS_H */
