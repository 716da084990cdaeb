/*
 * compare.h - the two operands of a comparison in clear, for as long as it takes.
 */
#ifndef TDE_OPERATORS_COMPARE_H
#define TDE_OPERATORS_COMPARE_H

#include "keys/keyed_hash.h"
#include "server/compat.h"
#include "type/base_functions.h"
#include "type/datum.h"

/*
 * Convert an operand that is not encrypted.  A constant is converted at the first call, as the planner would have done if it
 * knew of the conversion, and kept in call->more, which is nobody else's then; *kept: it is, so nobody may free it.
 */
extern Datum tde_compare_constant(FunctionCallInfo fcinfo, TdeCall *call, int operand, FmgrInfo *convert, bool *kept);

typedef struct TdeOperands
{
	TdeComparison *comparison;
	Datum		values[2];		/* of types that can be compared */
	TdeScratch	scratch[2];		/* decrypted by us */
	bool		free_converted[2];	/* converted by us, if the comparison converts */
} TdeOperands;

/* Both operands in clear become what the comparison takes.  For tde_operands_get() alone. */
extern void tde_compare_convert(FunctionCallInfo fcinfo, TdeCall *call, TdeOperands *operands);

static inline TdeComparison *
tde_comparison(TdeProc *proc)
{
	return tde_is_resolved(proc) ? proc->comparison : tde_base_comparison(proc);
}

/* A search compares values of pages with its key, a condition values of rows with a constant, max() each row's value with what it has returned. */
static inline TdeRemember
tde_operand_remember(const TdeCall *call, int operand, TdeRemember remember)
{
	if (remember == TDE_REMEMBER_STATE)
		return operand == 0 ? TDE_REMEMBER_LONG : TDE_REMEMBER_ROW;
	if (remember == TDE_REMEMBER_PAGE)
		return operand == 1 ? TDE_REMEMBER_SEARCH : remember;
	return call->constant >= 0 && operand != call->constant ? TDE_REMEMBER_ROW : remember;
}

static inline void
tde_operands_get(FunctionCallInfo fcinfo, TdeRemember remember, TdeOperands *operands)
{
	TdeCall    *call = tde_call(fcinfo);

	operands->comparison = tde_comparison(call->proc);
	for (int i = 0; i < 2; i++)
		operands->values[i] = tde_argument_peek(fcinfo, call, i, tde_operand_remember(call, i, remember), &operands->scratch[i]);
	if (unlikely(operands->comparison->converts))
		tde_compare_convert(fcinfo, call, operands);
}

static inline void
tde_operands_free(TdeOperands *operands)
{
	for (int i = 0; i < 2; i++)
	{
		if (unlikely(operands->comparison->converts) && operands->free_converted[i])
			pfree(DatumGetPointer(operands->values[i]));
		tde_datum_unpeek(&operands->scratch[i]);
	}
}

/*
 * The five functions of an order, which compare(fcinfo, remember) tells.  Each is called by expressions, the last one by indexes, as btree's
 * support function 1.
 */
#define TDE_ORDER_OPERATOR(name, compare, sign) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_BOOL(compare(fcinfo, TDE_REMEMBER_LONG) sign 0); \
	}

#define TDE_ORDER(prefix, compare) \
	TDE_ORDER_OPERATOR(prefix##lt, compare, <) \
	TDE_ORDER_OPERATOR(prefix##le, compare, <=) \
	TDE_ORDER_OPERATOR(prefix##gt, compare, >) \
	TDE_ORDER_OPERATOR(prefix##ge, compare, >=) \
	PG_FUNCTION_INFO_V1(prefix##cmp); \
	Datum \
	prefix##cmp(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_INT32(compare(fcinfo, TDE_REMEMBER_PAGE)); \
	}

/* Where a value stands: 63 bits, since sorts (operators/sort.c) have room for no more. */
static inline uint64
tde_unordered_place(FmgrInfo *hash, Oid collation, Datum plain)
{
	return tde_key_order(DatumGetUInt64(FunctionCall2Coll(hash, collation, plain, UInt64GetDatum(0)))) >> 1;
}

#endif							/* TDE_OPERATORS_COMPARE_H */
