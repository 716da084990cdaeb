/*
 * invalidation.c - one place of PostgreSQL's few for those who want to know that a relation has changed.
 *
 * A backend has ten places for relcache callbacks and ends if there is none left.  PostgreSQL takes up to four, Citus five.
 */
#include "postgres.h"

#include "utils/inval.h"

#include "server/compat.h"
#include "server/invalidation.h"

#define MAX_CALLBACKS	8

static TdeRelationChanged callbacks[MAX_CALLBACKS];
static int	count = 0;

static void
relcache_callback(Datum arg, Oid relation)
{
	for (int i = 0; i < count; i++)
		callbacks[i] (relation);
}

void
tde_when_relation_changes(TdeRelationChanged callback)
{
	Assert(count < MAX_CALLBACKS);
	if (count == 0)
		CacheRegisterRelcacheCallback(relcache_callback, (Datum) 0);
	callbacks[count++] = callback;
}

void
tde_relation_memos_invalidate(HTAB *memos, Oid relation)
{
	HASH_SEQ_STATUS status;
	TdeRelationMemo *memo;

	if (OidIsValid(relation))
	{
		memo = hash_search(memos, &relation, HASH_FIND, NULL);
		if (memo)
			memo->valid = false;
		return;
	}
	hash_seq_init(&status, memos);
	while ((memo = hash_seq_search(&status)) != NULL)
		memo->valid = false;
}
