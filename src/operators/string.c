/*
 * string.c - functions of encrypted strings that need less than a copy of the plaintext.
 *
 * substr() and left() read no more of a large value than they need, where that can be done: see tde_datum_decrypt_slice().
 * length() looks at the plaintext and leaves nothing behind.  The results are those of the base type's functions.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/fmgrprotos.h"

#include "server/compat.h"
#include "type/access.h"
#include "type/datum.h"

PG_FUNCTION_INFO_V1(tde_substr);
PG_FUNCTION_INFO_V1(tde_left);
PG_FUNCTION_INFO_V1(tde_length);

/*
 * Characters first to last (from 1 on) of the argument, with perhaps some before them, whose number is *skipped: bytes for
 * bytea and where characters are bytes; elsewhere a slice can only begin at the beginning.
 */
static Datum
slice(FunctionCallInfo fcinfo, int64 first, int64 last, int32 *skipped)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeType    *type = call->proc->args[0];
	int			width = type->base == BYTEAOID ? 1 : pg_database_encoding_max_length();
	uint64		from = width == 1 && first > 1 ? (uint64) first - 1 : 0;
	uint64		to = last > 0 ? (uint64) last * width : 0;
	uint64		begin;
	struct varlena *plain;

	tde_access_check(type, PG_GETARG_DATUM(0));
	plain = tde_datum_decrypt_slice(type, PG_GETARG_DATUM(0), call->declared[0], from, to, &begin);
	*skipped = (int32) begin;
	return PointerGetDatum(plain);
}

/* tde_substr(encrypted, int4 start [, int4 length]) returns the base type, as substr() of the base type does. */
Datum
tde_substr(PG_FUNCTION_ARGS)
{
	bool		bytes = tde_call(fcinfo)->proc->args[0]->base == BYTEAOID;
	bool		to_end = PG_NARGS() == 2;
	int32		start = PG_GETARG_INT32(1);
	int64		last = to_end ? PG_INT32_MAX : (int64) start + PG_GETARG_INT32(2) - 1;
	int32		skipped;
	Datum		plain;

	plain = slice(fcinfo, start, last, &skipped);
	if (to_end)
		return DirectFunctionCall2(bytes ? bytea_substr_no_len : text_substr_no_len, plain, Int32GetDatum(start - skipped));
	return DirectFunctionCall3(bytes ? bytea_substr : text_substr, plain, Int32GetDatum(start - skipped), PG_GETARG_DATUM(2));
}

/* tde_left(encrypted, int4 n) returns text: the first n characters, or all but the last -n. */
Datum
tde_left(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(1);
	int32		skipped;
	Datum		plain = slice(fcinfo, 1, n >= 0 ? n : PG_INT32_MAX, &skipped);

	return DirectFunctionCall2(text_left, plain, Int32GetDatum(n));
}

/* tde_length(encrypted) returns int4: characters, of bytea bytes; of bpchar without the blanks at the end. */
Datum
tde_length(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeType    *type = call->proc->args[0];
	PGFunction	length = type->base == BYTEAOID ? byteaoctetlen : type->base == BPCHAROID ? bpcharlen : textlen;
	TdeScratch	scratch;
	Datum		plain;
	Datum		result;

	tde_access_check(type, PG_GETARG_DATUM(0));
	plain = tde_datum_peek(type, PG_GETARG_DATUM(0), call->declared[0], TDE_REMEMBER_ROW, &scratch);
	result = DirectFunctionCall1(length, plain);
	tde_datum_unpeek(&scratch);
	return result;
}
