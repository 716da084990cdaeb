/*
 * invalidation.h - one place of PostgreSQL's few for those who want to know that a relation has changed.
 */
#ifndef TDE_SERVER_INVALIDATION_H
#define TDE_SERVER_INVALIDATION_H

/* Called with the relation, or InvalidOid: all may have changed.  Under the rules of relcache callbacks: no catalog is looked at. */
typedef void (*TdeRelationChanged) (Oid relation);

extern void tde_when_relation_changes(TdeRelationChanged callback);

#endif							/* TDE_SERVER_INVALIDATION_H */
