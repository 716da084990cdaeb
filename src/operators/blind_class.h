/*
 * blind_class.h - operator classes of GIN for encrypted types, and those of the base types that they stand for.
 */
#ifndef TDE_OPERATORS_BLIND_CLASS_H
#define TDE_OPERATORS_BLIND_CLASS_H

#include "nodes/pg_list.h"

#include "type/type.h"

typedef struct TdeBlindClass
{
	TdeType    *type;			/* of the column, or of its arrays' elements */
	bool		is_array;

	/* the functions of the base type's class */
	FmgrInfo   *extract_value;
	FmgrInfo   *extract_query;
	FmgrInfo   *consistent;		/* NULL: it has the other one alone */
	FmgrInfo   *triconsistent;	/* likewise */

	/* what it makes of a value: entries of a type that can be hashed */
	FmgrInfo   *hash;			/* extended: what is equal hashes alike */
	Oid			collation;		/* by which they are equal; InvalidOid: the index's */
	int16		entry_len;
	bool		entry_byval;
} TdeBlindClass;

/* The class that a support function of ours belongs to; ereport if it is complete no more.  Looked up anew when !tde_is_resolved(proc). */
extern TdeBlindClass *tde_blind_class(TdeProc *proc);

/*
 * The operator of this encrypted type that stands for one of its base type in a family of ours; InvalidOid if there is none.  No expression of a
 * user's finds it.
 */
extern Oid	tde_blind_operator_for(Oid base, Oid type);

/* The function of the base type's operator in whose place that one's function is called; likewise. */
extern FmgrInfo *tde_blind_operator(TdeProc *proc);

/* The class of an encrypted type, or of its arrays, for one of the base type's; InvalidOid if there is none. */
extern Oid	tde_blind_class_for(Oid type, Oid named);

/* The base type's, for one of ours; likewise. */
extern Oid	tde_blind_base_class(Oid opclass);

/* Is there a class for an encrypted type? */
extern bool tde_blind_serves(Oid type);

#endif							/* TDE_OPERATORS_BLIND_CLASS_H */
