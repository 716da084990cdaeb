/*
 * base_functions.h - functions of the base types: a type's own, and those that compare, or compute with, two operands of a call.
 *
 * The operands may be of different types: int4 and int8 have comparisons of their own; otherwise exact numbers meet as numeric,
 * and a float and any other number as float8, as PostgreSQL's parser would make them meet.
 */
#ifndef TDE_TYPE_BASE_FUNCTIONS_H
#define TDE_TYPE_BASE_FUNCTIONS_H

#include "type/type.h"

/*
 * How the two operands of a function of ours are compared.  It hangs from TdeProc, and is never changed nor freed: a call under way may be using it.
 */
typedef struct TdeComparison
{
	FmgrInfo   *compare;		/* NULL: the types have no order */
	FmgrInfo   *equal;
	FmgrInfo   *convert[2];		/* NULL: the operand is compared as it is */
	bool		converts;		/* one of the operands is, or both are */
	bool		free_converted[2];	/* the conversion's result is passed by reference */
	bool		same_bytes;		/* both are stored in the same way, so that the same bytes are equal */
	Oid			input_type;		/* of the operator class, if same_bytes */
	FmgrInfo   *equal_image;	/* says for which collations other bytes are not equal; NULL: for none */
	FmgrInfo   *hash[2];		/* of each operand, extended, such that what is equal hashes alike; from tde_base_unordered() alone */
} TdeComparison;

/*
 * The base type's own functions, ready to be called, looked up at their first use and anew when functions have changed.  tde_base_input() and
 * tde_base_receive() set type->ioparam, too.  They throw if the type has no such function, as for binary input.
 */
extern PGDLLEXPORT FmgrInfo *tde_base_input(TdeType *type);
extern FmgrInfo *tde_base_output(TdeType *type);
extern FmgrInfo *tde_base_receive(TdeType *type);
extern FmgrInfo *tde_base_send(TdeType *type);

/*
 * Applies the base type's own length coercion: of varchar(3) to 'abcd'.  Returns the same datum if there is nothing to do.  is_explicit: cut, instead
 * of throwing what the base type throws.
 */
extern PGDLLEXPORT Datum tde_base_coerce(TdeType *type, Datum value, int32 base_typmod, bool is_explicit);

/*
 * Returns true if all values that one modifier of the base type allows are as they are under another: varchar(5) under varchar(9).  The base type's
 * planner support function says so.  from -1: any value.
 */
extern bool tde_base_keeps(TdeType *type, int32 from, int32 to);

/* Returns the type as which PostgreSQL compares a type: text for varchar.  The type itself if it has no order. */
extern Oid	tde_base_compared_as(Oid type);

/*
 * Returns how the function's first two arguments are compared, and keeps it with the function.  Throws ERRCODE_UNDEFINED_FUNCTION if the two base
 * types cannot be compared.  What it returns stays good.
 */
extern TdeComparison *tde_base_comparison(TdeProc *proc);

/* The same for the order of pattern operator classes; throws likewise if the base types are no strings. */
extern TdeComparison *tde_base_pattern(TdeProc *proc);

/* Keeps a comparison of both operands as char(n), whatever strings they are: in its order, or in that of its bytes. */
extern void tde_base_padded(TdeProc *proc, bool pattern);

/* Returns the base type's extended hash function; throws ERRCODE_UNDEFINED_FUNCTION if it has none. */
extern FmgrInfo *tde_base_extended_hash(Oid type);

/* Returns true if a btree index of this base type can tell no order.  It takes a hash function, and an order for those that hash alike. */
extern bool tde_base_can_hide_order(Oid base);

/*
 * Keeps a comparison with the functions that hash both operands, as char(n) if they are padded.  Throws ERRCODE_UNDEFINED_FUNCTION if they have no
 * order or no hash.
 */
extern void tde_base_unordered(TdeProc *proc, bool padded);

/* An operator of the base types, and how its operands come to be of the types that it takes. */
typedef struct TdeArithmetic
{
	FmgrInfo   *operate;
	FmgrInfo   *convert[2];		/* NULL: the operand is taken as it is */
} TdeArithmetic;

/*
 * Returns the operator that PostgreSQL's parser takes for the two base types, and keeps it with the function.  Throws
 * ERRCODE_INVALID_FUNCTION_DEFINITION if there is none, or it returns another type than the function.
 */
extern TdeArithmetic *tde_base_arithmetic(TdeProc *proc, const char *symbol);

/*
 * The base type's member of a support function of btree, for an operator class's own left and another right type;
 * InvalidOid if it has none.
 */
extern Oid	tde_base_btree_support(Oid left, Oid right, int16 number);

/*
 * What was found, to be kept for a function: a copy, or what it had if that is the same.  An earlier one may be in use and stays as it is.
 */
extern void *tde_base_keep(void *had, const void *found, Size size);

/* Throws ERRCODE_INSUFFICIENT_PRIVILEGE if the user may not execute a function in whose place one of ours is called. */
extern PGDLLEXPORT void tde_base_require_execute(Oid function);

/* Returns the arguments of a cast with modifiers, or of a length coercion: the value, the modifiers, and that it is no explicit cast. */
extern PGDLLEXPORT List *tde_base_modifier_args(Node *value, int32 typmod);

#endif							/* TDE_TYPE_BASE_FUNCTIONS_H */
