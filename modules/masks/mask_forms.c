/*
 * mask_forms.c - what a mask shows of a value: a value of the same type.
 *
 * A form is a value of the column's own type, and of its length: clients, views and casts take it as any other.  What a type has no part for is
 * refused when the mask is set, not when it is shown.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "keys/keyed_hash.h"
#include "masks/mask_forms.h"
#include "server/compat.h"
#include "type/base_functions.h"

#define PURPOSE			'm'		/* see tde_key_node_digest() */
#define HASH_SIZE		16		/* bytes of the digest that are shown */

/* ---- which type has which parts ---- */

static bool
is_string(Oid base)
{
	return base == TEXTOID || base == VARCHAROID || base == BPCHAROID;
}

static bool
is_integer(Oid base)
{
	return base == INT2OID || base == INT4OID || base == INT8OID;
}

static bool
is_number(Oid base)
{
	return is_integer(base) || base == NUMERICOID || base == FLOAT4OID || base == FLOAT8OID;
}

bool
tde_mask_has_form(const TdeMask *mask, Oid base)
{
	switch (mask->kind)
	{
		case TDE_MASK_PARTS:
		case TDE_MASK_DOMAIN:
			return is_string(base);
		case TDE_MASK_YEAR:
			return base == DATEOID || base == TIMESTAMPOID || base == TIMESTAMPTZOID;
		case TDE_MASK_RANGE:
			return is_number(base);
		case TDE_MASK_HASH:
			return is_string(base) || base == BYTEAOID || base == UUIDOID;
		case TDE_MASK_CLEAR:
		case TDE_MASK_CONSTANT:
		case TDE_MASK_NULL:
			break;
	}
	return true;
}

/* Reads a width, which is kept as text. */
static Datum
numeric_of(const char *text)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* Throws unless it is a number above zero, of integers a whole one of 64 bits. */
static void
require_width(const char *text, Oid base)
{
	Datum		width = numeric_of(text);
	Datum		zero = numeric_of("0");
	bool		good = DatumGetBool(DirectFunctionCall2(numeric_gt, width, zero)) && !numeric_is_nan(DatumGetNumeric(width)) &&
	!numeric_is_inf(DatumGetNumeric(width));

	if (good && is_integer(base))
	{
		good = DatumGetBool(DirectFunctionCall2(numeric_eq, width, DirectFunctionCall2(numeric_trunc, width, Int32GetDatum(0))));
		if (good)
			(void) DirectFunctionCall1(numeric_int8, width);
	}
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid width \"%s\" of a range", text),
				 errdetail("It is a number above zero, of integers a whole one.")));
}

void
tde_mask_require_form(const TdeMask *mask, TdeType *type, int32 base_typmod)
{
	if (!tde_mask_has_form(mask, type->base))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("values of type %s have no such parts", format_type_be(type->oid)),
				 errdetail("Strings have first and last characters and a domain, dates and timestamps a year, numbers a range; strings, bytea and uuid have a hash."),
				 errhint("For any type there are clear, null and constant.")));
	if (mask->kind == TDE_MASK_RANGE)
		require_width(mask->text, type->base);
	if (mask->kind == TDE_MASK_HASH && is_string(type->base) && base_typmod >= VARHDRSZ && base_typmod - VARHDRSZ < 2 * HASH_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a column of %d characters is too short for a hash", base_typmod - VARHDRSZ),
				 errdetail("A hash has %d characters.", 2 * HASH_SIZE)));
	if (mask->kind == TDE_MASK_CONSTANT)
		(void) tde_base_coerce(type, InputFunctionCall(tde_base_input(type), mask->text, type->ioparam, -1), base_typmod, false);
}

/* ---- strings ---- */

/* Returns its characters and *size, of a char(n) without the blanks at the end. */
static char *
characters(Oid base, struct varlena *plain, int *size)
{
	*size = VARSIZE_ANY_EXHDR(plain);
	if (base == BPCHAROID)
		*size = bpchartruelen(VARDATA_ANY(plain), *size);
	return VARDATA_ANY(plain);
}

/*
 * Shows the first and last characters.  One character stands for each that is hidden, a longer padding for all of them.  What has no more characters
 * than would be shown is hidden whole.
 */
static Datum
show_parts(const TdeMask *mask, const char *text, int size)
{
	const char *padding = mask->text ? mask->text : "*";
	int			length = pg_mbstrlen_with_len(text, size);
	bool		shown = length > mask->first + mask->last;
	int			first = shown ? pg_mbcharcliplen(text, size, mask->first) : 0;
	int			last = shown ? pg_mbcharcliplen(text, size, length - mask->last) : size;
	int			times = pg_mbstrlen(padding) > 1 ? 1 : length - (shown ? mask->first + mask->last : 0);
	StringInfoData masked;

	initStringInfo(&masked);
	appendBinaryStringInfo(&masked, text, first);
	for (int i = 0; i < times; i++)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(&masked, padding);
	}
	appendBinaryStringInfo(&masked, text + last, size - last);
	return PointerGetDatum(cstring_to_text_with_len(masked.data, masked.len));
}

/* Shows what is behind the last @.  What has none is hidden whole. */
static Datum
show_domain(const char *text, int size)
{
	int			at = size;

	while (at > 0 && text[at - 1] != '@')
	{
		CHECK_FOR_INTERRUPTS();
		at--;
	}
	if (at == 0)
		return CStringGetTextDatum("****");
	return PointerGetDatum(cstring_to_text(psprintf("****@%s", pnstrdup(text + at, size - at))));
}

/* ---- dates ---- */

/* The first year that PostgreSQL knows has less than 39 days; in another time zone perhaps one more. */
#define FIRST_YEAR_DAYS	40

/* Shows the first of January; infinite dates are themselves.  The first year of all begins with the first day that there is. */
static Datum
show_year(Oid base, Datum plain)
{
	int			year;
	int			month;
	int			day;

	if (base == DATEOID)
	{
		if (DATE_NOT_FINITE(DatumGetDateADT(plain)))
			return plain;
		j2date(DatumGetDateADT(plain) + POSTGRES_EPOCH_JDATE, &year, &month, &day);
		return DateADTGetDatum(Max(date2j(year, 1, 1), DATETIME_MIN_JULIAN) - POSTGRES_EPOCH_JDATE);
	}
	if (!TIMESTAMP_NOT_FINITE(DatumGetTimestamp(plain)) && DatumGetTimestamp(plain) < MIN_TIMESTAMP + FIRST_YEAR_DAYS * USECS_PER_DAY)
		return TimestampGetDatum(MIN_TIMESTAMP);
	return DirectFunctionCall2(base == TIMESTAMPOID ? timestamp_trunc : timestamptz_trunc, CStringGetTextDatum("year"), plain);
}

/* ---- numbers: towards zero, so that the result is a value of the type and of its precision ---- */

/* Returns the multiple of the width towards zero, in the type's own range, so nothing can overflow. */
static int64
integer_range(int64 value, const char *width)
{
	int64		by = DatumGetInt64(DirectFunctionCall1(numeric_int8, numeric_of(width)));

	return value - value % by;
}

/* Returns the same of a float.  Infinity and NaN are themselves, as is any value if the width is too small for a float. */
static double
float_range(double value, const char *width)
{
	double		by = DatumGetFloat8(DirectFunctionCall1(numeric_float8, numeric_of(width)));

	return isfinite(value) && by > 0 ? trunc(value / by) * by : value;
}

/* Shows where the range begins that the number is in, by multiples of the width. */
static Datum
show_range(Oid base, Datum plain, const char *width)
{
	switch (base)
	{
		case INT2OID:
			return Int16GetDatum((int16) integer_range(DatumGetInt16(plain), width));
		case INT4OID:
			return Int32GetDatum((int32) integer_range(DatumGetInt32(plain), width));
		case INT8OID:
			return Int64GetDatum(integer_range(DatumGetInt64(plain), width));
		case FLOAT4OID:
			return Float4GetDatum((float4) float_range(DatumGetFloat4(plain), width));
		case FLOAT8OID:
			return Float8GetDatum(float_range(DatumGetFloat8(plain), width));
		default:
			return DirectFunctionCall2(numeric_mul, DirectFunctionCall2(numeric_div_trunc, plain, numeric_of(width)), numeric_of(width));
	}
}

/* ---- hash ---- */

/*
 * Shows the beginning of a keyed digest: equal values are seen to be equal, also in other databases with the same hash key, and nobody can compute it
 * without that key.
 */
static Datum
show_hash(Oid base, Datum plain)
{
	struct varlena *bytes = (struct varlena *) DatumGetPointer(plain);
	uint8		digest[TDE_MAX_DIGEST];
	char		digits[2 * HASH_SIZE];
	int			size;
	const char *text;

	if (base == UUIDOID)
	{
		pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));

		tde_key_node_digest(PURPOSE, (const uint8 *) DatumGetPointer(plain), UUID_LEN, digest);
		memcpy(uuid->data, digest, UUID_LEN);
		return UUIDPGetDatum(uuid);
	}
	text = characters(base, bytes, &size);
	tde_key_node_digest(PURPOSE, (const uint8 *) text, size, digest);
	if (base == BYTEAOID)
		return PointerGetDatum(cstring_to_text_with_len((char *) digest, HASH_SIZE));
	hex_encode((char *) digest, HASH_SIZE, digits);
	return PointerGetDatum(cstring_to_text_with_len(digits, sizeof(digits)));
}

/* ---- all ---- */

/* Shows it as a value of the base type, not yet cut to the column's length.  A constant is read by the type's input function. */
static Datum
show(const TdeMask *mask, TdeType *type, Datum plain)
{
	char	   *text;
	int			size;

	switch (mask->kind)
	{
		case TDE_MASK_PARTS:
			text = characters(type->base, (struct varlena *) DatumGetPointer(plain), &size);
			return show_parts(mask, text, size);
		case TDE_MASK_DOMAIN:
			text = characters(type->base, (struct varlena *) DatumGetPointer(plain), &size);
			return show_domain(text, size);
		case TDE_MASK_YEAR:
			return show_year(type->base, plain);
		case TDE_MASK_RANGE:
			return show_range(type->base, plain, mask->text);
		case TDE_MASK_HASH:
			return show_hash(type->base, plain);
		default:
			return InputFunctionCall(tde_base_input(type), mask->text, type->ioparam, -1);
	}
}

/* The column's length cuts what is longer, as an explicit cast does. */
Datum
tde_mask_form(const TdeMask *mask, TdeType *type, Datum plain, int32 base_typmod, bool *isnull)
{
	*isnull = mask->kind == TDE_MASK_NULL;
	return *isnull ? (Datum) 0 : tde_base_coerce(type, show(mask, type, plain), base_typmod, true);
}
