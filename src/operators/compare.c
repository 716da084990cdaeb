/*
 * compare.c - comparisons of encrypted types: equality, without decryption where bytes tell; order, minimum and maximum;
 * an order that tells nothing; a varchar as it stands beside a char(n).
 *
 * They compare as the base types do.  The operators are IMMUTABLE, as index members must be, and leave no allocation behind,
 * since index builds and sorts call them millions of times in one memory context.
 *
 * The same functions serve as members for the base types themselves in our operator families: the planner combines members
 * of one family freely, and must find those, too.  They need no key.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"

#include "operators/compare.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/error.h"
#include "type/cast.h"

PG_FUNCTION_INFO_V1(tde_eq);
PG_FUNCTION_INFO_V1(tde_ne);
PG_FUNCTION_INFO_V1(tde_larger);
PG_FUNCTION_INFO_V1(tde_smaller);
PG_FUNCTION_INFO_V1(tde_in_range);

/* ---- an operand that is not encrypted, made of the type in which it meets the encrypted one ---- */

/* What a call site keeps of the operand that is not encrypted. */
typedef struct PlainOperand
{
	bool		constant;		/* the same at each call? */
	Datum		converted;		/* if it is */
} PlainOperand;

static bool
is_constant(Node *expr, int operand)
{
	return expr != NULL && IsA(expr, OpExpr) && operand < list_length(((OpExpr *) expr)->args) &&
		IsA(list_nth(((OpExpr *) expr)->args, operand), Const);
}

static PlainOperand *
make_operand(FunctionCallInfo fcinfo, int operand, FmgrInfo *convert)
{
	MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	PlainOperand *plain = palloc(sizeof(PlainOperand));

	plain->constant = is_constant(fcinfo->flinfo->fn_expr, operand);
	if (plain->constant)
		plain->converted = FunctionCall1(convert, PG_GETARG_DATUM(operand));
	MemoryContextSwitchTo(caller);
	return plain;
}

Datum
tde_compare_constant(FunctionCallInfo fcinfo, TdeCall *call, int operand, FmgrInfo *convert, bool *kept)
{
	PlainOperand *plain = call->more;

	if (unlikely(plain == NULL))
		call->more = plain = make_operand(fcinfo, operand, convert);
	*kept = plain->constant;
	return plain->constant ? plain->converted : FunctionCall1(convert, PG_GETARG_DATUM(operand));
}

void
tde_compare_convert(FunctionCallInfo fcinfo, TdeCall *call, TdeOperands *operands)
{
	for (int i = 0; i < 2; i++)
	{
		FmgrInfo   *convert = operands->comparison->convert[i];
		bool		kept = false;

		if (convert)
			operands->values[i] = call->proc->args[i] ? FunctionCall1(convert, operands->values[i]) :
				tde_compare_constant(fcinfo, call, i, convert, &kept);
		operands->free_converted[i] = operands->comparison->free_converted[i] && !kept;
	}
}

/*
 * ---- equality ----
 *
 * Unsalted values under one key and spec are deterministic: the same plaintext has the same bytes.  A constant that they are
 * compared with is encrypted once under the key and spec of the rows; then a comparison is a memcmp().  Other bytes mean
 * "not equal" only where the base type's equal values have one image (not 1.0 and 1.00, 0 and -0, or strings that a
 * nondeterministic collation takes for equal); otherwise both sides are decrypted.  Padded values tell so only if they have one size, since
 * columns pad to different ones.
 *
 * Two values with the same bytes are equal, salted or not.
 */

typedef enum Verdict
{
	EQUAL,
	DIFFERENT,
	NOT_TOLD
} Verdict;

/* What a call site keeps.  The constant is in the plan as it is here; nothing else of it is in clear. */
typedef struct EqualState
{
	bool		bitwise;		/* other bytes mean that values are not equal */
	Datum		given;			/* a copy of the operand that is the same at each call, ... */
	struct varlena *sealed;		/* ... and its encryption as the rows' values are encrypted; NULL: not yet made ... */
	size_t		least;			/* ... which takes so many bytes at least if they are padded, otherwise 0 ... */
	uint64		epoch;			/* ... with the keys of this epoch */
} EqualState;

static EqualState *
make_state(FunctionCallInfo fcinfo, TdeCall *call, TdeComparison *comparison)
{
	EqualState *state = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(EqualState));
	FmgrInfo   *image = comparison->equal_image;

	state->bitwise = image != NULL &&
		DatumGetBool(FunctionCall1Coll(image, PG_GET_COLLATION(), ObjectIdGetDatum(comparison->input_type)));
	call->more = state;
	return state;
}

/* Were these bytes made with the same key and spec, without salt? */
static inline bool
same_recipe(const uint8 *a, size_t a_size, const uint8 *b, size_t b_size)
{
	size_t		i = 0;

	/* the flag and the parity tell of the value, not of the key */
	if (a_size < 2 || b_size < 2 || ((a[0] ^ b[0]) & ~(TDE_SPEC_FLAG | TDE_SPEC_PARITY)) != 0 || (a[0] & TDE_SPEC_SALT) != 0)
		return false;
	/* the key id's bytes, of which the last one is below 0x80 */
	do
	{
		i++;
		if (i >= a_size || i >= b_size || a[i] != b[i])
			return false;
	} while (a[i] >= 0x80);
	return true;
}

/* Of values that were made so. */
static inline Verdict
compare_alike(const EqualState *state, const uint8 *a, size_t a_size, const uint8 *b, size_t b_size)
{
	if (a_size == b_size)
		return memcmp(a, b, a_size) == 0 ? EQUAL : state->bitwise ? DIFFERENT : NOT_TOLD;
	return state->bitwise && !tde_spec_byte_is_padded(a[0]) ? DIFFERENT : NOT_TOLD;
}

static inline Verdict
compare_bytes(const EqualState *state, const uint8 *a, size_t a_size, const uint8 *b, size_t b_size)
{
	if (same_recipe(a, a_size, b, b_size))
		return compare_alike(state, a, a_size, b, b_size);
	return a_size == b_size && memcmp(a, b, a_size) == 0 ? EQUAL : NOT_TOLD;
}

/* Rows of a padded column have several sizes; most use is the smallest in which the constant has room. */
static inline bool
is_better_size(const EqualState *state, size_t size)
{
	return state->least > 0 && size < VARSIZE(state->sealed) - VARHDRSZ && size >= state->least;
}

/* The bytes of a value, if they are at hand. */
static inline bool
bytes_of(Datum value, const uint8 **bytes, size_t *size)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);

	if (!tde_datum_at_hand(value))
		return false;
	*bytes = (const uint8 *) VARDATA_ANY(stored);
	*size = VARSIZE_ANY_EXHDR(stored);
	tde_datum_prefetch(*bytes);
	return *size >= 2;
}

/*
 * Encrypt the constant as the value is encrypted whose bytes are given, and remember it.  Not if that value is to be refused, nor so any
 * other one that is compared with this encryption.
 */
static bool
seal_constant(FunctionCallInfo fcinfo, TdeCall *call, EqualState *state, TdeType *row_type, const uint8 *bytes, size_t size)
{
	TdeType    *type = call->proc->args[call->constant];
	Datum		constant = PG_GETARG_DATUM(call->constant);
	Datum		plain = constant;
	TdeScratch	scratch = {0};
	TdeHeader	header;
	MemoryContext caller;

	if (!tde_header_parse(bytes, size, &header) || header.spec.salted ||
		!tde_datum_fits(row_type, PG_GETARG_DATUM(1 - call->constant), call->declared[1 - call->constant]))
		return false;
	caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	if (state->sealed)
	{
		pfree(state->sealed);
		state->sealed = NULL;
		if (type || !row_type->base_byval)
			pfree(DatumGetPointer(state->given));
	}
	if (type)
		plain = tde_datum_peek(type, constant, call->declared[call->constant], TDE_REMEMBER_LONG, &scratch);
	state->given = type ? datumCopy(constant, false, -1) : datumCopy(constant, row_type->base_byval, row_type->base_len);
	state->sealed = tde_datum_seal_like(row_type, plain, &header, size);
	state->least = header.spec.mode != TDE_PADDED ? 0 : tde_header_sealed_size(header.spec, header.key_id, VARSIZE_ANY_EXHDR(DatumGetPointer(plain)) + 1);
	state->epoch = tde_keys_epoch;
	tde_datum_unpeek(&scratch);
	MemoryContextSwitchTo(caller);
	return true;
}

/* Is the constant the one that was sealed? */
static inline bool
same_constant(const EqualState *state, const TdeType *type, const TdeType *row_type, Datum constant)
{
	if (type)
		return VARSIZE_ANY(DatumGetPointer(constant)) == VARSIZE_ANY(DatumGetPointer(state->given)) &&
			memcmp(DatumGetPointer(constant), DatumGetPointer(state->given), VARSIZE_ANY(DatumGetPointer(constant))) == 0;
	return datumIsEqual(constant, state->given, row_type->base_byval, row_type->base_len);
}

/* One operand is a constant: what do the other one's bytes say? */
static inline Verdict
compare_constant(FunctionCallInfo fcinfo, TdeCall *call, EqualState *state)
{
	TdeType    *type = call->proc->args[call->constant];
	TdeType    *row_type = call->proc->args[1 - call->constant];
	Datum		constant = PG_GETARG_DATUM(call->constant);
	const uint8 *bytes;
	size_t		size;

	if (!bytes_of(PG_GETARG_DATUM(1 - call->constant), &bytes, &size) ||
		(bytes[0] & TDE_SPEC_SALT) != 0)
		return NOT_TOLD;
	if ((type || row_type->base_len == -1) && !tde_datum_at_hand(constant))
		return NOT_TOLD;
	if (unlikely(state->sealed == NULL || state->epoch != tde_keys_epoch ||
				 !same_constant(state, type, row_type, constant) ||
				 !same_recipe(bytes, size, (uint8 *) VARDATA(state->sealed), VARSIZE(state->sealed) - VARHDRSZ) ||
				 is_better_size(state, size)))
	{
		if (!seal_constant(fcinfo, call, state, row_type, bytes, size))
			return NOT_TOLD;
	}
	return compare_alike(state, bytes, size, (uint8 *) VARDATA(state->sealed), VARSIZE(state->sealed) - VARHDRSZ);
}

/* Can the operands' bytes tell? */
static inline Verdict
told_by_bytes(FunctionCallInfo fcinfo)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeComparison *comparison = tde_comparison(proc);
	EqualState *state = call->more;
	const uint8 *bytes[2];
	size_t		size[2];
	Verdict		verdict;

	/* a closed wallet compares nothing */
	if (!comparison->same_bytes || !tde_keys_fresh(tde_keys_epoch))
		return NOT_TOLD;
	if (state == NULL)
		state = make_state(fcinfo, call, comparison);
	if (call->constant >= 0 && proc->args[1 - call->constant] != NULL)
		return compare_constant(fcinfo, call, state);
	if (proc->args[0] == NULL || proc->args[0] != proc->args[1] ||
		!bytes_of(PG_GETARG_DATUM(0), &bytes[0], &size[0]) ||
		!bytes_of(PG_GETARG_DATUM(1), &bytes[1], &size[1]))
		return NOT_TOLD;
	verdict = compare_bytes(state, bytes[0], size[0], bytes[1], size[1]);
	/* what does not fit is to be refused; both are under one key */
	if (verdict != NOT_TOLD && !tde_datum_fits(proc->args[0], PG_GETARG_DATUM(0), call->declared[0]))
		return NOT_TOLD;
	if (verdict != NOT_TOLD && call->declared[1] != call->declared[0] &&
		!tde_datum_fits(proc->args[1], PG_GETARG_DATUM(1), call->declared[1]))
		return NOT_TOLD;
	return verdict;
}

static bool
are_equal(FunctionCallInfo fcinfo)
{
	Verdict		verdict = told_by_bytes(fcinfo);
	TdeOperands operands;
	bool		result;

	if (verdict != NOT_TOLD)
		return verdict == EQUAL;
	tde_operands_get(fcinfo, TDE_REMEMBER_LONG, &operands);
	result = DatumGetBool(FunctionCall2Coll(operands.comparison->equal, PG_GET_COLLATION(),
											operands.values[0], operands.values[1]));
	tde_operands_free(&operands);
	return result;
}

Datum
tde_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(are_equal(fcinfo));
}

Datum
tde_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!are_equal(fcinfo));
}

/* ---- order ---- */

static inline int
compare_operands(FunctionCallInfo fcinfo, TdeRemember remember)
{
	TdeOperands operands;
	int			result;

	tde_operands_get(fcinfo, remember, &operands);
	if (unlikely(operands.comparison->compare == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("type %s has no order", format_type_be(tde_call(fcinfo)->proc->arg_types[0]))));
	result = DatumGetInt32(FunctionCall2Coll(operands.comparison->compare, PG_GET_COLLATION(),
											 operands.values[0], operands.values[1]));
	tde_operands_free(&operands);
	return result;
}

TDE_ORDER(tde_, compare_operands)

/* Strings in the order of their bytes, whatever the collation is: text_pattern_ops. */
static int
compare_pattern(FunctionCallInfo fcinfo, TdeRemember remember)
{
	TdeProc    *proc = tde_call(fcinfo)->proc;

	if (!tde_is_resolved(proc))
		tde_base_pattern(proc);
	return compare_operands(fcinfo, remember);
}

TDE_ORDER(tde_pattern_, compare_pattern)

/*
 * tde_larger(encrypted, encrypted) returns encrypted - transition function of max(); the value travels as it is.  Of equal
 * ones the last, as with the base types.
 */
Datum
tde_larger(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(compare_operands(fcinfo, TDE_REMEMBER_STATE) > 0 ? PG_GETARG_DATUM(0) : PG_GETARG_DATUM(1));
}

/* tde_smaller(encrypted, encrypted) returns encrypted - transition function of min(). */
Datum
tde_smaller(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(compare_operands(fcinfo, TDE_REMEMBER_STATE) < 0 ? PG_GETARG_DATUM(0) : PG_GETARG_DATUM(1));
}

/*
 * tde_in_range(value encrypted, base encrypted, offset, subtract bool, less bool) returns bool - btree support function 3, for
 * RANGE frames of window functions.
 */
Datum
tde_in_range(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeType    *type = proc->args[0];
	TdeScratch	scratch[2];
	Datum		value;
	Datum		base;
	bool		result;

	if (!tde_is_resolved(proc))
	{
		uint64		epoch = tde_functions_epoch;
		Oid			function = tde_base_btree_support(type->base, proc->arg_types[2], BTINRANGE_PROC);

		if (!OidIsValid(function))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("RANGE with offset PRECEDING/FOLLOWING is not supported for type %s", format_type_be(type->base))));
		proc->base_function = tde_type_function(function);
		proc->resolved = epoch;
	}
	value = tde_datum_peek(type, PG_GETARG_DATUM(0), call->declared[0], TDE_REMEMBER_LONG, &scratch[0]);
	base = tde_datum_peek(type, PG_GETARG_DATUM(1), call->declared[1], TDE_REMEMBER_LONG, &scratch[1]);
	result = DatumGetBool(FunctionCall5(proc->base_function, value, base, PG_GETARG_DATUM(2), PG_GETARG_DATUM(3),
										PG_GETARG_DATUM(4)));
	tde_datum_unpeek(&scratch[0]);
	tde_datum_unpeek(&scratch[1]);
	PG_RETURN_BOOL(result);
}

/*
 * ---- an order that tells nothing: operator classes of btree indexes that serve equality alone ----
 *
 * Values stand in the order of a keyed hash: the base type's extended one, so that what is equal, of whichever types of a family, hashes
 * alike, through a pseudo-random function under the database's hash key.  Of two values whose hashes agree the base type's order decides.  So
 * the files of such an index tell no order, and it has all that needs no order: UNIQUE, foreign keys, merge joins, IN.
 *
 * The families have the same = as the ordinary ones.  Their < and its like are there for what sorts by them, a merge join; no expression
 * finds them.
 */

static int
compare_places(FunctionCallInfo fcinfo, TdeRemember remember)
{
	TdeProc    *proc = tde_call(fcinfo)->proc;
	TdeOperands operands;
	uint64		places[2];
	int			result;

	if (!tde_is_resolved(proc))
		tde_base_unordered(proc, false);
	tde_operands_get(fcinfo, remember, &operands);
	for (int i = 0; i < 2; i++)
		places[i] = tde_unordered_place(operands.comparison->hash[i], PG_GET_COLLATION(), operands.values[i]);
	if (places[0] != places[1])
		result = places[0] < places[1] ? -1 : 1;
	else
		result = DatumGetInt32(FunctionCall2Coll(operands.comparison->compare, PG_GET_COLLATION(),
												 operands.values[0], operands.values[1]));
	tde_operands_free(&operands);
	return result;
}

TDE_ORDER(tde_unordered_, compare_places)

/*
 * ---- encrypted varchars as they stand beside a char(n): compared without the blanks at their ends ----
 *
 * varchar = char(n) is char(n)'s comparison.  So encrypted_varchar is in the operator families of encrypted_bpchar, too, where the planner
 * wants members of each type with itself, to sort and to hash by.  No expression finds these: they are reached by family alone.
 */

#define PADDED(name, resolve, comparison) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		TdeProc    *proc = tde_call(fcinfo)->proc; \
		\
		if (!tde_is_resolved(proc)) \
			resolve; \
		return comparison(fcinfo); \
	}

PADDED(tde_padded_eq, tde_base_padded(proc, false), tde_eq)
PADDED(tde_padded_ne, tde_base_padded(proc, false), tde_ne)
PADDED(tde_padded_lt, tde_base_padded(proc, false), tde_lt)
PADDED(tde_padded_le, tde_base_padded(proc, false), tde_le)
PADDED(tde_padded_gt, tde_base_padded(proc, false), tde_gt)
PADDED(tde_padded_ge, tde_base_padded(proc, false), tde_ge)
PADDED(tde_padded_cmp, tde_base_padded(proc, false), tde_cmp)
PADDED(tde_padded_pattern_lt, tde_base_padded(proc, true), tde_lt)
PADDED(tde_padded_pattern_le, tde_base_padded(proc, true), tde_le)
PADDED(tde_padded_pattern_gt, tde_base_padded(proc, true), tde_gt)
PADDED(tde_padded_pattern_ge, tde_base_padded(proc, true), tde_ge)
PADDED(tde_padded_pattern_cmp, tde_base_padded(proc, true), tde_cmp)
PADDED(tde_padded_unordered_lt, tde_base_unordered(proc, true), tde_unordered_lt)
PADDED(tde_padded_unordered_le, tde_base_unordered(proc, true), tde_unordered_le)
PADDED(tde_padded_unordered_gt, tde_base_unordered(proc, true), tde_unordered_gt)
PADDED(tde_padded_unordered_ge, tde_base_unordered(proc, true), tde_unordered_ge)
PADDED(tde_padded_unordered_cmp, tde_base_unordered(proc, true), tde_unordered_cmp)

PG_FUNCTION_INFO_V1(tde_padded_hash);

/* tde_padded_hash(encrypted_varchar) returns int4 - what is equal as char(n) hashes alike. */
Datum
tde_padded_hash(PG_FUNCTION_ARGS)
{
	TdeScratch	scratch;
	Datum		value = tde_argument_peek(fcinfo, tde_call(fcinfo), 0, TDE_REMEMBER_ROW, &scratch);
	Datum		hash = DirectFunctionCall1Coll(hashbpchar, PG_GET_COLLATION(), value);

	tde_datum_unpeek(&scratch);
	PG_RETURN_UINT32(tde_key_hash(DatumGetUInt32(hash)));
}
