/*
 * invalidation.h - one place of PostgreSQL's few for those who want to know that a relation has changed.
 */
#ifndef TDE_SERVER_INVALIDATION_H
#define TDE_SERVER_INVALIDATION_H

#include "utils/hsearch.h"

/* Called with the relation, or InvalidOid: all may have changed.  Under the rules of relcache callbacks: no catalog is looked at. */
typedef void (*TdeRelationChanged) (Oid relation);

extern void tde_when_relation_changes(TdeRelationChanged callback);

/* What begins each entry of a hash table that remembers something of relations. */
typedef struct TdeRelationMemo
{
	Oid			relation;		/* hash key */
	bool		valid;			/* false: look again */
} TdeRelationMemo;

/* For such a callback: what is remembered of the relation, or of all, is not valid any more.  The entries stay. */
extern void tde_relation_memos_invalidate(HTAB *memos, Oid relation);

#endif							/* TDE_SERVER_INVALIDATION_H */
