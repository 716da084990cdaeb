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

/* tde_column.decrypt_role and tde_column.decrypt_policy (a TdeDecryptPolicy). */
extern char *tde_decrypt_role;
extern int	tde_decrypt_policy;

/* True if tde_column.decrypt_role is set.  Most of the time it is not, and then nothing else is looked at. */
extern PGDLLEXPORT bool tde_access_restricted;

/*
 * True if a value is to be looked at before it is given out: because of that, or because tde.decryptions counts it.  Set by the assign hooks of both
 * settings.
 */
extern bool tde_access_watched;

/*
 * Returns true if the current user may decrypt, or nobody is restricted.  Inside a SECURITY DEFINER function that is its owner.  The answer for one
 * user is remembered until roles change.
 */
extern bool tde_access_is_permitted(void);

/*
 * Returns true if the current user may see this value: he may decrypt, or it is a constant of SQL.  Throws, for who may not decrypt, if the value is
 * damaged or its key cannot be read.
 */
extern PGDLLEXPORT bool tde_access_permits(TdeType *type, Datum value);

/* Throws ERRCODE_INSUFFICIENT_PRIVILEGE: the user may not see values of this type.  To be called with tde_access_restricted only. */
pg_noreturn extern void tde_access_refuse(TdeType *type);

/* Throws as tde_access_refuse() does if the current user may not see this value.  Not for an argument of a call: a mask may let him. */
static inline void
tde_access_check(TdeType *type, Datum value)
{
	if (unlikely(tde_access_restricted) && !tde_access_permits(type, value))
		tde_access_refuse(type);
}

/* Returns true if the current user may see an argument of a call, or its column without a mask: who sees it in clear may decrypt it. */
extern bool tde_access_permits_argument(TdeCall *call, int arg, Datum value);

static inline void
tde_access_check_argument(TdeCall *call, int arg, Datum value)
{
	if (unlikely(tde_access_restricted) && !tde_access_permits_argument(call, arg, value))
		tde_access_refuse(call->proc->args[arg]);
}

/*
 * Returns what a client's result has instead of such a value, if its column has no mask for the user: as the policy says, NULL (*isnull) or a value
 * that says nothing, palloc'd.  Throws with TDE_POLICY_ERROR.  *isnull becomes true as well if no such value of the type is known.
 */
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

/* Before a part of a statement in which this may happen; returns what tde_access_end(), or who catches an error, is to restore. */
extern TdeStatement tde_access_begin(bool changes_data);

/* The same for the part in which the executor is shut down: nothing is done with values there. */
extern TdeStatement tde_access_begin_end(void);

/* After such a part.  Throws as tde_access_refuse() does if a value was asked for in it and not given. */
extern void tde_access_end(TdeStatement outer);

/* Returns true if the current user is not subject to row level security anywhere: a superuser, or a role with BYPASSRLS. */
extern bool tde_access_may_know_reason(void);

/* Throws ERRCODE_TDE_NOT_AUTHENTIC without a reason, after the reason was written to the server log. */
pg_noreturn extern void tde_access_throw_alike(const char *reason);

/* tde_key_for_reading() with such errors.  That the wallet is closed, or that there is no memory, is said as it is. */
extern const TdeKey *tde_access_key_for_comparing(uint32 id, TdeSpec spec, const uint8 type_tag[TDE_TYPE_TAG_SIZE]);

/* The assign hook of the setting.  Throws away plans when it is set or reset, since only some say which columns values come from. */
extern void tde_access_assign_role(const char *newval, void *extra);

/* From _PG_init: has changes of roles, databases and functions forget what was answered. */
extern void tde_access_init(void);

#endif							/* TDE_TYPE_ACCESS_H */
