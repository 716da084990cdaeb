/*
 * aggregates.h - PostgreSQL's own aggregates over encrypted values: which of its functions one of ours stands for, and states in boxes.
 *
 * For SELECT sum(price) FROM t the executor calls a transition function of ours, which asks tde_aggregation() for PostgreSQL's function of the same
 * name.  That is looked up in pg_proc by name and arguments, so that the functions of ours need no C code of their own.
 *
 * A state stays within the process as PostgreSQL has it.  A parallel worker passes it on, and it is encrypted there (tde_boxed_serialize(),
 * tde_sealed_serialize()).
 */
#ifndef TDE_OPERATORS_AGGREGATES_H
#define TDE_OPERATORS_AGGREGATES_H

#include "type/type.h"

/* The name of a function whose state is a box begins so, and goes on as that of PostgreSQL's function: boxed_float8_accum. */
#define TDE_BOXED	"boxed_"

/*
 * A state of a type that parallel workers and sorts would pass on in clear, since it has no serialization function: its datum in a box, whose
 * type is internal.
 */
typedef struct TdeBox
{
	Datum		value;			/* in the memory of the aggregate's group, unless byval; not set if isnull */
	bool		isnull;			/* there is no value yet: a strict function has met NULLs alone */
	bool		byval;			/* of the state's type, as is len */
	int16		len;
} TdeBox;

/*
 * What a call site of a function that calls one of PostgreSQL's knows.  It is allocated in fn_mcxt, hangs from TdeCall's more, and stays the same as
 * long as the FmgrInfo lives.
 */
typedef struct TdeAggregation
{
	FmgrInfo	base;			/* what it calls */
	bool		from_first;		/* a strict function: the first value becomes the state */
	bool		scratch;		/* nothing that it returns points into its arguments, so that they may be in scratch memory */
	FmgrInfo   *convert[3];		/* of each argument: from the base type to what it takes; NULL: it is taken as it is */
	TdeBox		initial;		/* what a group's box is copied from; otherwise NULL, with length and passing of the state's type */
} TdeAggregation;

/*
 * Returns what the call site knows.  It is looked up at the first call.  boxed: the first argument is a box, and the name begins with TDE_BOXED.
 * Throws ERRCODE_UNDEFINED_FUNCTION if PostgreSQL has no such function.
 */
extern TdeAggregation *tde_aggregation(FunctionCallInfo fcinfo, bool boxed);

/*
 * Calls PostgreSQL's function with the arguments as they are, and returns its result; fcinfo->isnull says whether that is NULL.  The caller has put
 * plain values in place of encrypted ones.  An error leaves fcinfo->flinfo changed, which is of no use to anybody then.
 */
static inline Datum
tde_call_base(FunctionCallInfo fcinfo, TdeAggregation *aggregation)
{
	FmgrInfo   *own = fcinfo->flinfo;
	Datum		result;

	fcinfo->flinfo = &aggregation->base;
	result = FunctionCallInvoke(fcinfo);
	fcinfo->flinfo = own;
	return result;
}

/*
 * Returns the memory of the aggregate's group.  Throws ERRCODE_FEATURE_NOT_SUPPORTED where somebody calls the function outside of an aggregate: an
 * argument of type internal may be no state then.
 */
extern MemoryContext tde_aggregate_context(FunctionCallInfo fcinfo);

/* Returns a new box in that memory: a copy of the model and of its value. */
extern TdeBox *tde_aggregate_box_new(MemoryContext group, const TdeBox *model);

/*
 * Copies the value into the memory of the group, frees what the box had, and puts the copy in its place.  For values by reference that are not NULL;
 * tde_box_set() is to be called.
 */
extern void tde_aggregate_box_replace(MemoryContext group, TdeBox *box, Datum value, bool isnull);

/*
 * Makes the value that PostgreSQL's function has returned the box's.  It is copied only if it is a new one: a function that has changed its state in
 * place returns the same pointer.
 */
static inline void
tde_box_set(MemoryContext group, TdeBox *box, Datum value, bool isnull)
{
	if (box->byval || isnull)
	{
		box->value = value;
		box->isnull = isnull;
	}
	else if (box->isnull || DatumGetPointer(value) != DatumGetPointer(box->value))
		tde_aggregate_box_replace(group, box, value, isnull);
}

#endif							/* TDE_OPERATORS_AGGREGATES_H */
