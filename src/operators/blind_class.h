/*
 * blind_class.h - operator classes of GIN for encrypted types, and those of the base types that they stand for.
 *
 * tde_create_gin_class() and the install script make them (sql/33_search.sql).  The planner meets them by operator family; index_conditions.c puts
 * the operators in place of the base type's.
 */
#ifndef TDE_OPERATORS_BLIND_CLASS_H
#define TDE_OPERATORS_BLIND_CLASS_H

#include "nodes/pg_list.h"

#include "type/type.h"

/*
 * What a support function of ours calls.  It is kept in TopMemoryContext for as long as the backend lives, and a new one is made when something has
 * changed: a scan under way keeps the one that it began with.
 */
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

/*
 * Returns the class that a support function of ours belongs to.  Looked up anew when !tde_is_resolved(proc).  Throws
 * ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if it is complete no more, as when somebody has dropped a member of the family.
 */
extern TdeBlindClass *tde_blind_class(TdeProc *proc);

/*
 * Returns the operator of this encrypted type that stands for one of its base type in a family of ours; InvalidOid if there is none.  No expression
 * of a user's finds it, so it is put there before planning.
 */
extern Oid	tde_blind_operator_for(Oid base, Oid type);

/*
 * Returns the function of the base type's operator in whose place the function proc is called.  Throws as tde_blind_class() does if no family tells.
 */
extern FmgrInfo *tde_blind_operator(TdeProc *proc);

/*
 * Returns the class of an encrypted type, or of its arrays, for one of the base type's: encrypted_jsonb_path_ops for jsonb_path_ops.  InvalidOid if
 * there is none.
 */
extern Oid	tde_blind_class_for(Oid type, Oid named);

/* Returns the class of the base type for one of ours; InvalidOid if that has been dropped. */
extern Oid	tde_blind_base_class(Oid opclass);

/* Returns true if any class of GIN takes this encrypted type.  It goes through all classes of GIN: the answer is to be remembered. */
extern bool tde_blind_serves(Oid type);

#endif							/* TDE_OPERATORS_BLIND_CLASS_H */
