/*
 * counts.c - what this process gives out in clear: counted by role and column, told to the others, and written to the server's log.
 *
 * Counting a value is an addition.  What has been counted goes to shared memory after each TELL_AT values of a column and when a statement or a
 * transaction ends, an aborted one as well: the values were given out.  Parallel workers have the roles of their leader.
 *
 * Values that comparisons decrypt are not counted one by one: they are all that was decrypted and not given out.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/partition.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "decryptions/counts.h"
#include "decryptions/counts_shared.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/memory.h"
#include "server/table_name.h"

#define TELL_AT	64

bool		tde_log_decryptions = false;

/* All that this process has counted so far; entries stay, since call sites keep pointers to them. */
static HTAB *counted = NULL;

static slist_head untold = SLIST_STATIC_INIT(untold);
static bool unlogged = false;

/* What tde_stats said when comparisons were last counted, and how many values readers got since. */
static uint64 decrypted_before;
static uint64 given = 0;

static uint64
all_decrypted(void)
{
	return tde_stats.decryptions + tde_stats.reused;
}

/* ---- names, for the log: looked up while the transaction is good ---- */

/* Returns a role's name, or its number where no catalog can be read: an error may be under way. */
static char *
role_name(Oid role)
{
	char	   *name = IsTransactionState() ? GetUserNameFromId(role, true) : NULL;

	return name ? name : psprintf("%u", role);
}

/* Returns a column's name for the log, with its table's.  The table's stands alone if the column is gone. */
static char *
column_name(TdeColumn column)
{
	char	   *relation = tde_table_name(column.table);
	char	   *name = get_attname(column.table, column.number, true);

	if (relation == NULL)
		return pstrdup("no known column");
	return name ? psprintf("%s.%s", relation, quote_identifier(name)) : relation;
}

/* Looks up what the log will say.  It is in TopMemoryContext, until forget_names(). */
static void
look_up_names(TdeCounted *mine)
{
	char	   *who = psprintf("user \"%s\", session user \"%s\"", role_name(mine->key.role), role_name(mine->key.session_role));
	char	   *what = mine->key.purpose == TDE_FOR_COMPARISON ? pstrdup("comparisons") :
	column_name((TdeColumn) {mine->key.relation, mine->key.column});

	mine->who = MemoryContextStrdup(TopMemoryContext, who);
	mine->what = MemoryContextStrdup(TopMemoryContext, what);
}

/* ---- counting ---- */

/* Returns true if the entry is of the roles of now. */
static inline bool
is_ours(const TdeCounted *mine)
{
	return mine->key.role == GetUserId() && mine->key.session_role == GetSessionUserId();
}

/* Returns the column of the partitioned table: which partition a value was in is no matter.  Names may have other numbers in partitions. */
static TdeColumn
of_whole_table(TdeColumn column)
{
	List	   *ancestors;
	char	   *name;

	if (!OidIsValid(column.table) || !IsTransactionState() || !get_rel_relispartition(column.table))
		return column;
	ancestors = get_partition_ancestors(column.table);
	name = get_attname(column.table, column.number, true);
	if (ancestors == NIL)
		return column;
	column.table = llast_oid(ancestors);
	column.number = name ? get_attnum(column.table, name) : InvalidAttrNumber;
	return column;
}

/* Where the last values of a column were counted, so that short statements need not look that up. */
#define RECENT	64
static struct
{
	TdeColumn	column;
	TdeCounted *counted;		/* NULL: none */
}			recent[RECENT];

/* A relation has changed, and may be a partition of another table by now. */
static void
forget_recent(Oid relation)
{
	memset(recent, 0, sizeof(recent));
}

/* Returns the entry for the column and the roles of now, which is made if there is none. */
static TdeCounted *
find_counted(TdeColumn column, TdeDecryptedFor purpose)
{
	TdeCounted	key = {.key = {GetSessionUserId(), GetUserId(), column.table, column.number, purpose}};
	TdeCounted *mine;
	bool		found;

	if (counted == NULL)
		counted = tde_memory_table_new("tde_column decryptions", sizeof(key.key), sizeof(key));
	mine = hash_search(counted, &key.key, HASH_ENTER, &found);
	if (!found)
		*mine = key;
	return mine;
}

/* Adds values to an entry.  Names for the log are looked up now: later the transaction may be over. */
static void
add(TdeCounted *mine, uint64 values)
{
	if (mine->values == 0)
		slist_push_head(&untold, &mine->node);
	mine->values += values;
	if (unlikely(tde_log_decryptions))
	{
		if (mine->who == NULL)
			look_up_names(mine);
		mine->unlogged += values;
		unlogged = true;
	}
}

/* Takes over what the core has counted of the room that it was granted. */
static inline void
settle(TdeCounted *mine)
{
	uint32		counted_there = mine->granted - mine->shown.room;

	mine->values += counted_there;
	given += counted_there;
	mine->granted = mine->shown.room = 0;
}

/* Returns the entry of values that are given out, from the recent ones if it is there. */
static TdeCounted *
find_given(TdeColumn column)
{
	int			place = (column.table * 31 + column.number) % RECENT;
	TdeCounted *mine = recent[place].counted;

	if (mine && recent[place].column.table == column.table && recent[place].column.number == column.number && is_ours(mine))
		return mine;
	mine = find_counted(of_whole_table(column), TDE_FOR_READER);
	recent[place].column = column;
	recent[place].counted = mine;
	return mine;
}

/* ---- telling ---- */

/* Counts as compared what was decrypted and not given out since this was called last. */
static void
count_comparisons(void)
{
	int64		compared = (int64) (all_decrypted() - decrypted_before - given);

	/* a value that could not be decrypted has been counted as given */
	if (compared > 0 && tde_track_decryptions)
		add(find_counted(TDE_NO_COLUMN, TDE_FOR_COMPARISON), compared);
	if (compared >= 0)
	{
		decrypted_before = all_decrypted();
		given = 0;
	}
}

/* Adds all that is untold to shared memory, under the day of now in UTC. */
static void
tell(TimestampTz now)
{
	int32		day = (int32) (now / USECS_PER_DAY);

	while (!slist_is_empty(&untold))
	{
		TdeCounted *mine = slist_container(TdeCounted, node, slist_pop_head_node(&untold));
		TdeDecryptionsKey key = {MyDatabaseId, mine->key.session_role, mine->key.role, mine->key.relation, day, mine->key.column, mine->key.purpose};

		settle(mine);
		tde_decryptions_tell(&key, &mine->place, mine->values);
		mine->values = 0;
	}
	tde_decryptions_keep(now);
}

/*
 * After each call the core may count some values of the column by itself, up to TELL_AT.  With a log it may not: the log wants to know of each
 * statement.
 */
void
tde_counts_add(TdeDecrypted **place, TdeColumn column, uint64 values)
{
	TdeCounted *mine = *place ? (TdeCounted *) ((char *) *place - offsetof(TdeCounted, shown)) : NULL;

	if (values == 0)
		return;
	/* SET ROLE, and functions that run as their owner */
	if (unlikely(mine == NULL || !is_ours(mine)))
		mine = find_given(column);
	*place = &mine->shown;
	settle(mine);
	add(mine, values);
	given += values;
	if (unlikely(mine->values >= TELL_AT))
		tell(GetCurrentTimestamp());
	else if (likely(!tde_log_decryptions))
		mine->shown.room = mine->granted = TELL_AT - mine->values;
}

/* ---- the log ---- */

/* Writes one line for each role that the statement has run as. */
static void
log_role(const TdeCounted *first)
{
	HASH_SEQ_STATUS scan;
	TdeCounted *mine;
	StringInfoData text;
	char	   *who = first->who;

	initStringInfo(&text);
	hash_seq_init(&scan, counted);
	while ((mine = hash_seq_search(&scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (mine->unlogged == 0 || mine->key.role != first->key.role || mine->key.session_role != first->key.session_role)
			continue;
		appendStringInfo(&text, "%s%s (" UINT64_FORMAT ")", text.len > 0 ? ", " : "", mine->what, mine->unlogged);
		mine->unlogged = 0;
	}
	ereport(LOG_SERVER_ONLY,
			(errmsg("values decrypted for %s, application \"%s\": %s", who, application_name ? application_name : "", text.data),
			 errhidestmt(true), errhidecontext(true)));
	pfree(text.data);
}

/* Frees what look_up_names() has kept, of all entries. */
static void
forget_names(void)
{
	HASH_SEQ_STATUS scan;
	TdeCounted *mine;

	hash_seq_init(&scan, counted);
	while ((mine = hash_seq_search(&scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (mine->who == NULL)
			continue;
		pfree(mine->who);
		pfree(mine->what);
		mine->who = mine->what = NULL;
	}
}

/* Names are forgotten then: a role or column may be renamed until it is written about again. */
static void
write_log(void)
{
	HASH_SEQ_STATUS scan;
	TdeCounted *mine;

	unlogged = false;
	hash_seq_init(&scan, counted);
	while ((mine = hash_seq_search(&scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (mine->unlogged > 0)
			log_role(mine);
	}
	forget_names();
}

/* ---- when a statement or a transaction ends ---- */

void
tde_counts_statement_ends(TimestampTz now)
{
	/* first, since this settles what was given */
	if (!slist_is_empty(&untold))
		tell(now ? now : GetCurrentTimestamp());
	if (all_decrypted() != decrypted_before)
		count_comparisons();
	if (!slist_is_empty(&untold))
		tell(now ? now : GetCurrentTimestamp());
	if (unlikely(unlogged))
		write_log();
}

/* An abort tells as well: the values were given out.  COMMIT tells before it, while names can be looked up. */
static void
end_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			tde_counts_statement_ends(0);
			break;
		default:
			break;
	}
}

void
tde_counts_assign(bool newval)
{
	static bool registered = false;

	if (newval && !registered)
	{
		RegisterXactCallback(end_transaction, NULL);
		tde_memory_when_relation_changes(forget_recent);
	}
	registered |= newval;
	if (!newval && tde_track_decryptions)
		tde_counts_statement_ends(0);
	decrypted_before = all_decrypted();
	given = 0;
}
