/*
 * columns_read.c - the columns of queries that the guard against plaintext has looked at: each may be read many times, and reads others.
 */
#include "postgres.h"

#include "access/relation.h"
#include "rewrite/rewriteHandler.h"
#include "utils/hsearch.h"
#include "utils/rel.h"

#include "ddl/columns_read.h"

typedef struct LookedAt
{
	struct
	{
		const void *place;
		AttrNumber	column;
	}			key;
	bool		reads;
} LookedAt;

typedef struct View
{
	Oid			relid;			/* the key */
	Query	   *query;
} View;

/* Of one search, in its memory context; NULL: nothing yet. */
static HTAB *looked_at;
static HTAB *views;

void
tde_looks_begin(void)
{
	looked_at = views = NULL;
}

static HTAB *
new_table(const char *name, Size key, Size entry)
{
	HASHCTL		info = {.keysize = key, .entrysize = entry, .hcxt = CurrentMemoryContext};

	return hash_create(name, 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static LookedAt *
look_up(const void *place, AttrNumber column, HASHACTION action)
{
	LookedAt	wanted;

	memset(&wanted, 0, sizeof(wanted));
	wanted.key.place = place;
	wanted.key.column = column;
	if (looked_at == NULL)
		looked_at = new_table("tde_column columns read", sizeof(wanted.key), sizeof(wanted));
	return hash_search(looked_at, &wanted.key, action, NULL);
}

bool
tde_was_looked_at(const void *place, AttrNumber column, bool *reads)
{
	LookedAt   *found = look_up(place, column, HASH_FIND);

	if (found)
		*reads = found->reads;
	else
		look_up(place, column, HASH_ENTER)->reads = false;
	return found != NULL;
}

bool
tde_looked_at(const void *place, AttrNumber column, bool reads)
{
	look_up(place, column, HASH_ENTER)->reads = reads;
	return reads;
}

/* The relation cache might read it anew, elsewhere. */
Query *
tde_view_looked_at(Oid relid)
{
	View	   *known;
	Relation	rel;
	bool		found;

	if (views == NULL)
		views = new_table("tde_column views read", sizeof(Oid), sizeof(View));
	known = hash_search(views, &relid, HASH_FIND, NULL);
	if (known)
		return known->query;
	rel = relation_open(relid, AccessShareLock);
	known = hash_search(views, &relid, HASH_ENTER, &found);
	known->query = copyObject(get_view_query(rel));
	relation_close(rel, AccessShareLock);
	return known->query;
}
