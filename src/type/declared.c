/*
 * declared.c - a value that is not as its column declares is refused.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "server/error.h"
#include "server/extension.h"
#include "type/access.h"
#include "type/declared.h"

int			tde_key_wall = TDE_WALL_ERROR;

pg_noreturn static void
refuse_without_mac(bool tells)
{
	static const char reason[] = "value without MAC in a column that is declared with MAC";

	if (!tells && !tde_access_may_know_reason())
		tde_access_throw_alike(reason);
	ereport(ERROR,
			(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
			 errmsg("%s", reason),
			 errdetail("Somebody may have put it there to circumvent the MAC."),
			 errhint("Only if you know how it got there, run tde_rekey_table() with repair => true, which gives it a MAC.")));
}

/* ---- keys are walls ---- */

/* What has been warned of in this statement.  A column is not known here: type, key and declaration stand for it. */
typedef struct Warned
{
	TimestampTz statement;
	Oid			type;
	int32		slot;
	int32		declared;
} Warned;

/* So many columns of one statement; if there are more, some are named again. */
#define WARNED	32

/* Returns true for the first such value of a column in this statement, and remembers it. */
static bool
is_first(const Warned *now)
{
	static Warned warned[WARNED];
	static int	next = 0;

	for (int i = 0; i < WARNED; i++)
		if (warned[i].statement == now->statement && warned[i].type == now->type && warned[i].slot == now->slot &&
			warned[i].declared == now->declared)
			return false;
	warned[next] = *now;
	next = (next + 1) % WARNED;
	return true;
}

/*
 * Returns true if a value under another key is only warned of.  Values that do not fit are rare, so this may take a while.  In a database that has
 * not been updated from 0.1.0 yet, nobody could have looked for such values.
 */
static bool
only_warns(void)
{
	return tde_key_wall == TDE_WALL_WARN || !OidIsValid(tde_extension_table("key_counts"));
}

/* Reports a value under another key than declared, at this level: one text for errors, warnings and the server's log. */
static void
report_foreign(int level, TdeType *type, int32 slot, int32 declared)
{
	ereport(level,
			(errcode(ERRCODE_TDE_OTHER_KEY),
			 errmsg("value under key \"%s\" in a column that is declared with key \"%s\"", tde_keys_slot_called(slot),
					tde_keys_slot_called(declared)),
			 errdetail("It is of type %s.  Somebody may have copied it there.", format_type_be(type->oid)),
			 errhint("Only if you know how it got there, run tde_rekey_table() with repair => true, which encrypts it under the column's "
					 "key.  Superusers can read it meanwhile: SET tde_column.key_wall = warn;")));
}

void
tde_declared_refuse(TdeType *type, int32 value, int32 declared, bool tells)
{
	int32		slot = value >> 1;
	bool		may_know = tells || tde_access_may_know_reason();
	Warned		now = {GetCurrentStatementStartTimestamp(), type->oid, slot, declared >> 1};

	if ((declared & ~value & 1) != 0)
		refuse_without_mac(tells);
	if (!only_warns())
	{
		if (!may_know)
			tde_access_throw_alike("value under another key than its column declares");
		report_foreign(ERROR, type, slot, now.declared);
	}
	/* a warning must tell nobody of rows that row level security hides */
	else if (is_first(&now))
		report_foreign(may_know ? WARNING : LOG_SERVER_ONLY, type, slot, now.declared);
}
