/*
 * aggregates.h - PostgreSQL's own aggregates over encrypted values: which of its functions one of ours stands for, and states in boxes.
 */
#ifndef TDE_OPERATORS_AGGREGATES_H
#define TDE_OPERATORS_AGGREGATES_H

#include "type/type.h"

/* The names of functions whose state is a box begin so, and go on as that of PostgreSQL's function. */
#define TDE_BOXED	"boxed_"

/*
 * A state of a type that parallel workers and sorts would pass on in clear, since it has no serialization function: its datum in a box, whose
 * type is internal.
 */
typedef struct TdeBox
{
	Datum		value;
	bool		isnull;
	bool		byval;
	int16		len;
} TdeBox;

/* What is known of a call site of a function that calls one of PostgreSQL's. */
typedef struct TdeAggregation
{
	FmgrInfo	base;			/* what it calls */
	bool		from_first;		/* a first value may be the state, if that is strict */
	bool		scratch;		/* that returns nothing that points into its arguments */
	FmgrInfo   *convert[3];		/* what the base type becomes for it; NULL: it is taken as it is */
	TdeBox		initial;		/* the state at first */
} TdeAggregation;

/* The same at each call.  boxed: our first argument is a box. */
extern TdeAggregation *tde_aggregation(FunctionCallInfo fcinfo, bool boxed);

/* Call PostgreSQL's function with the arguments as they are. */
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

/* The memory of the aggregate's group.  An error where somebody calls the function himself: what he passes may be no state. */
extern MemoryContext tde_aggregate_context(FunctionCallInfo fcinfo);

/* A new box, in that memory; its value is copied, too. */
extern TdeBox *tde_aggregate_box_new(MemoryContext group, const TdeBox *model);

/* What PostgreSQL's function has made of the box's value becomes its value. */
extern void tde_aggregate_box_replace(MemoryContext group, TdeBox *box, Datum value, bool isnull);

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
