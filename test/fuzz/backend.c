/*
 * backend.c - as much of a server as the files of src that need one call while they parse: memory, errors, messages.
 *
 * Each palloc is a malloc of exactly that size, so that the address sanitizer sees more than it would in a server.
 */
#include "backend.h"

#include <setjmp.h>

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"

#include "check.h"
#include "server/compat.h"

int			backend_warnings = 0;

/* ---- memory ---- */

static void **blocks;
static size_t block_count;
static size_t block_room;

static void
keep(void *block)
{
	if (block_count == block_room)
	{
		block_room = block_room ? 2 * block_room : 64;
		CHECK((blocks = realloc(blocks, block_room * sizeof(void *))) != NULL);
	}
	blocks[block_count++] = block;
}

/* Latest first, as most are freed. */
static void
forget(void *block)
{
	size_t		i = block_count;

	while (i > 0 && blocks[i - 1] != block)
		i--;
	CHECK(i > 0);
	blocks[i - 1] = blocks[--block_count];
}

void *
palloc(Size size)
{
	void	   *block = malloc(size);

	CHECK(block != NULL && size <= 0x3fffffff);
	keep(block);
	return block;
}

void *
palloc0(Size size)
{
	return memset(palloc(size), 0, size);
}

void *
repalloc(void *old, Size size)
{
	void	   *block;

	CHECK(size <= 0x3fffffff);
	forget(old);
	CHECK((block = realloc(old, size)) != NULL);
	keep(block);
	return block;
}

void
pfree(void *block)
{
	forget(block);
	free(block);
}

char *
pstrdup(const char *text)
{
	return strcpy(palloc(strlen(text) + 1), text);
}

/* ---- errors ---- */

static jmp_buf *handler;
static int	error_level;
static int	error_code;
static bool error_told;

bool
backend_try(void (*call) (void *), void *arg)
{
	jmp_buf		here;
	bool		good = false;

	handler = &here;
	if (setjmp(here) == 0)
	{
		call(arg);
		good = true;
	}
	else
		CHECK(error_told && error_code != ERRCODE_INTERNAL_ERROR);
	while (block_count > 0)
		free(blocks[--block_count]);
	return good;
}

bool
errstart(int level, const char *domain)
{
	error_level = level;
	error_code = ERRCODE_INTERNAL_ERROR;
	error_told = false;
	return true;
}

bool
errstart_cold(int level, const char *domain)
{
	return errstart(level, domain);
}

void
errfinish(const char *file, int line, const char *function)
{
	if (error_level >= ERROR)
		longjmp(*handler, 1);
	backend_warnings++;
}

int
errcode(int code)
{
	error_code = code;
	return 0;
}

/* Written out, so that the sanitizers see what the message is made of. */
static void
write_message(const char *format, va_list args)
{
	static char text[4096];

	CHECK(vsnprintf(text, sizeof(text), format, args) >= 0);
}

#define MESSAGE(name, told) \
	int \
	name(const char *format,...) \
	{ \
		va_list		args; \
 \
		va_start(args, format); \
		write_message(format, args); \
		va_end(args); \
		error_told |= told; \
		return 0; \
	}

MESSAGE(errmsg, true)
MESSAGE(errmsg_internal, true)
MESSAGE(errdetail, false)
MESSAGE(errhint, false)

/* ---- messages of the protocol, as src/backend/libpq/pqformat.c has them ---- */

static void
require(StringInfo msg, int size)
{
	if (size < 0 || size > msg->len - msg->cursor)
		ereport(ERROR,
				(errcode(ERRCODE_PROTOCOL_VIOLATION),
				 errmsg("insufficient data left in message")));
}

const char *
pq_getmsgbytes(StringInfo msg, int size)
{
	require(msg, size);
	msg->cursor += size;
	return msg->data + msg->cursor - size;
}

void
pq_copymsgbytes(StringInfo msg, char *buf, int size)
{
	memcpy(buf, pq_getmsgbytes(msg, size), size);
}

int
pq_getmsgbyte(StringInfo msg)
{
	return *(const uint8 *) pq_getmsgbytes(msg, 1);
}

/* In network byte order. */
static uint64
number(StringInfo msg, int size)
{
	uint64		value = 0;

	require(msg, size);
	while (size-- > 0)
		value = value << 8 | (uint8) msg->data[msg->cursor++];
	return value;
}

unsigned int
pq_getmsgint(StringInfo msg, int size)
{
	return (unsigned int) number(msg, size);
}

int64
pq_getmsgint64(StringInfo msg)
{
	return (int64) number(msg, 8);
}

void
pq_sendbytes(StringInfo buf, TDE_SENT_BYTES data, int size)
{
	appendBinaryStringInfo(buf, data, size);
}

void
pq_begintypsend(StringInfo buf)
{
	initStringInfo(buf);
	appendStringInfoSpaces(buf, VARHDRSZ);
}

bytea *
pq_endtypsend(StringInfo buf)
{
	SET_VARSIZE(buf->data, buf->len);
	return (bytea *) buf->data;
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}
