/*
 * usage_count.c - uses of data keys, counted by key and place while relations and catalogs are read.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "maintenance/usage_count.h"

/* What a count is of. */
typedef struct CountId
{
	uint32		key_id;
	int32		place;
	int32		column;			/* of the relation that is being read; 0: none in particular */
} CountId;

typedef struct Count
{
	CountId		id;				/* hash key */
	TdeUse	   *use;
} Count;

static void
count_value(TdeUsage *usage, AttrNumber column, uint32 key_id)
{
	CountId		id = {key_id, usage->place, column};
	bool		found;
	Count	   *count = hash_search(usage->counts, &id, HASH_ENTER, &found);

	if (!found)
	{
		MemoryContext before = MemoryContextSwitchTo(usage->context);

		count->use = palloc0(sizeof(TdeUse));
		count->use->key_id = key_id;
		if (column > 0)
			count->use->column = pstrdup(NameStr(TupleDescAttr(RelationGetDescr(usage->rel), column - 1)->attname));
		usage->uses = lappend(usage->uses, count->use);
		MemoryContextSwitchTo(before);
	}
	count->use->count++;
}

static void
count_scanned(TdeScan *scan, AttrNumber column, const TdeHeader *header)
{
	count_value((TdeUsage *) scan, column, header ? header->key_id : 0);
}

void
tde_usage_count(const TdeHeader *header, void *usage)
{
	count_value(usage, 0, header ? header->key_id : 0);
}

void
tde_usage_begin_place(TdeUsage *usage)
{
	usage->place++;
	usage->before = list_length(usage->uses);
}

bool
tde_usage_counted(TdeUsage *usage)
{
	return list_length(usage->uses) > usage->before;
}

void
tde_usage_end_place(TdeUsage *usage, const char *object_type, const char *object, const char *column)
{
	object_type = MemoryContextStrdup(usage->context, object_type);
	object = MemoryContextStrdup(usage->context, object);
	if (column)
		column = MemoryContextStrdup(usage->context, column);
	for (int i = usage->before; i < list_length(usage->uses); i++)
	{
		TdeUse	   *use = list_nth(usage->uses, i);

		use->object_type = object_type;
		use->object = object;
		if (column)
			use->column = column;
	}
}

bool
tde_usage_wants(TdeUsage *usage, Oid relation)
{
	return usage->tables == NIL || list_member_oid(usage->tables, relation) || list_member_oid(usage->relations, relation);
}

void
tde_usage_begin(TdeUsage *usage)
{
	HASHCTL		control = {.keysize = sizeof(CountId), .entrysize = sizeof(Count), .hcxt = CurrentMemoryContext};

	usage->scan.value = count_scanned;
	usage->context = CurrentMemoryContext;
	usage->counts = hash_create("tde_column key usage", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}
