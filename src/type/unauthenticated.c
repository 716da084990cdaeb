/*
 * unauthenticated.c - are decrypted bytes that no MAC vouches for safe to give to the base type's functions?
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "utils/date.h"

#include "server/error.h"
#include "type/unauthenticated.h"

struct TdeVerifier
{
	Oid			base;
	int			length;			/* -1: any */
	bool		(*good) (const uint8 *bytes, size_t size);
};

static int64
number_at(const uint8 *bytes, int width)
{
	uint64		number = 0;

	for (int i = 0; i < width; i++)
		number |= (uint64) bytes[i] << (8 * i);
	/* sign-extend */
	return width == 8 ? (int64) number : (int64) (number << (64 - 8 * width)) >> (64 - 8 * width);
}

static bool
any_bytes(const uint8 *bytes, size_t size)
{
	return true;
}

/* Are these eight bytes ASCII, and none of them zero?  (A zero byte borrows into its high bit.) */
static inline bool
ascii_word(const uint8 *bytes)
{
	uint64		word;

	memcpy(&word, bytes, sizeof(word));
	return ((word | (word - UINT64CONST(0x0101010101010101))) & UINT64CONST(0x8080808080808080)) == 0;
}

/*
 * All server encodings hold ASCII as it is, so most text needs no look at its encoding, which takes as long as decrypting a
 * short one.
 */
static bool
good_text(const uint8 *bytes, size_t size)
{
	size_t		done = 0;

	if (size < 8)
	{
		while (done < size && (uint8) (bytes[done] - 1) < 0x7f)
			done++;
		if (done == size)
			return true;
	}
	while (done + 8 <= size && ascii_word(bytes + done))
		done += 8;
	/* the rest, together with some that were seen already */
	if (done + 8 > size && size >= 8 && ascii_word(bytes + size - 8))
		return true;
	return pg_verify_mbstr(GetDatabaseEncoding(), (const char *) bytes, (int) size, true);
}

static bool
good_bool(const uint8 *bytes, size_t size)
{
	return size == 1 && bytes[0] <= 1;
}

static bool
good_date(const uint8 *bytes, size_t size)
{
	int64		date = number_at(bytes, 4);

	return DATE_NOT_FINITE(date) || IS_VALID_DATE(date);
}

static bool
good_time(const uint8 *bytes, size_t size)
{
	int64		time = number_at(bytes, 8);

	return time >= 0 && time <= USECS_PER_DAY;
}

static bool
good_timetz(const uint8 *bytes, size_t size)
{
	int64		zone = number_at(bytes + 8, 4);

	return good_time(bytes, size) && zone > -(MAX_TZDISP_HOUR + 1) * SECS_PER_HOUR &&
		zone < (MAX_TZDISP_HOUR + 1) * SECS_PER_HOUR;
}

static bool
good_timestamp(const uint8 *bytes, size_t size)
{
	Timestamp	timestamp = number_at(bytes, 8);

	return TIMESTAMP_NOT_FINITE(timestamp) || IS_VALID_TIMESTAMP(timestamp);
}

/*
 * numeric's own macros are private to numeric.c; this is the format that numeric_recv() and pg_upgrade keep stable: a
 * 16-bit header word, a second one (the weight) in the long form, then base-10000 digits.
 */
static bool
good_numeric(const uint8 *bytes, size_t size)
{
	uint16		header;
	size_t		header_size;

	if (size < sizeof(uint16) || size % sizeof(uint16) != 0)
		return false;
	memcpy(&header, bytes, sizeof(header));
	if ((header & 0xc000) == 0xc000)	/* NaN, Infinity, -Infinity */
		return size == sizeof(uint16) && (header == 0xc000 || header == 0xd000 || header == 0xf000);
	header_size = (header & 0x8000) ? sizeof(uint16) : 2 * sizeof(uint16);
	if (size < header_size)
		return false;
	for (size_t i = header_size; i < size; i += sizeof(int16))
	{
		int16		digit;

		memcpy(&digit, bytes + i, sizeof(digit));
		if (digit < 0 || digit > 9999)
			return false;
	}
	return true;
}

/* What is not in this list has an inner structure, or is not known well enough. */
static const TdeVerifier verifiers[] = {
	{TEXTOID, -1, good_text},
	{VARCHAROID, -1, good_text},
	{BPCHAROID, -1, good_text},
	{BYTEAOID, -1, any_bytes},
	{NUMERICOID, -1, good_numeric},
	{INT2OID, 2, any_bytes},
	{INT4OID, 4, any_bytes},
	{INT8OID, 8, any_bytes},
	{FLOAT4OID, 4, any_bytes},
	{FLOAT8OID, 8, any_bytes},
	{BOOLOID, 1, good_bool},
	{DATEOID, 4, good_date},
	{TIMEOID, 8, good_time},
	{TIMETZOID, 12, good_timetz},
	{TIMESTAMPOID, 8, good_timestamp},
	{TIMESTAMPTZOID, 8, good_timestamp},
	{INTERVALOID, 16, any_bytes},
	{UUIDOID, 16, any_bytes},
};

const TdeVerifier *
tde_verifier_of(Oid base)
{
	for (int i = 0; i < lengthof(verifiers); i++)
		if (verifiers[i].base == base)
			return &verifiers[i];
	return NULL;
}

void
tde_verify_payload(const TdeVerifier *verifier, const uint8 *bytes, size_t size)
{
	if (verifier == NULL || (verifier->length >= 0 && verifier->length != size) || !verifier->good(bytes, size))
		tde_throw(TDE_E_AUTH);
}

size_t
tde_verify_slice(Oid base, const uint8 *bytes, size_t size, bool ends)
{
	size_t		good;

	if (base == BYTEAOID)
		return size;
	good = pg_encoding_verifymbstr(GetDatabaseEncoding(), (const char *) bytes, (int) size);
	if (good < size && (ends || size - good >= pg_database_encoding_max_length()))
		tde_throw(TDE_E_AUTH);
	return good;
}
