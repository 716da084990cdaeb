/*
 * node_form.c - the ciphertext form as nodes with the same keys give it to each other in files, told from plaintext by a tag.
 *
 *	["tde_column node:" 16][ciphertext form][tag 16]
 *
 * in binary, and the same in text, but for what follows the first 16 bytes, which is in base64.  Citus reads such files by the types' input
 * functions, which also read what clients give.  So whoever could write this form could have a value decrypted that he has stolen.  He
 * cannot: the tag is an HMAC under a key that is derived from the database's hash key.
 */
#include "postgres.h"

#include "common/base64.h"
#include "utils/builtins.h"

#include "keys/keyed_hash.h"
#include "server/compat.h"
#include "server/error.h"
#include "type/ciphertext_form.h"
#include "type/node_form.h"

#define MARK			"tde_column node:"
#define MARK_SIZE		(sizeof(MARK) - 1)
#define TAG_SIZE		16

bool		tde_node_form_written = false;
bool		tde_node_form_accepted = false;

/* ---- the tag ---- */

#define TAGGED			'v'		/* see tde_key_node_digest() */

static void
make_tag(const char *bytes, size_t size, uint8 tag[TAG_SIZE])
{
	uint8		digest[TDE_MAX_DIGEST];

	tde_key_node_digest(TAGGED, (const uint8 *) bytes, size, digest);
	memcpy(tag, digest, TAG_SIZE);
}

/* Returns true if the tag at the end of these bytes is that of the bytes before. */
static bool
is_tagged(const char *bytes, int size)
{
	uint8		tag[TAG_SIZE];

	if (size <= TAG_SIZE)
		return false;
	make_tag(bytes, size - TAG_SIZE, tag);
	return tde_mac_equal(tag, (const uint8 *) bytes + size - TAG_SIZE, TAG_SIZE);
}

/* ---- out ---- */

/* Returns the ciphertext form and its tag, behind a gap of so many bytes, which the caller fills. */
static bytea *
tagged_form(TdeType *type, Datum value, size_t gap)
{
	bytea	   *form = tde_ciphertext_send(type, value);
	size_t		size = VARSIZE_ANY_EXHDR(form);
	bytea	   *result = palloc(VARHDRSZ + gap + size + TAG_SIZE);
	char	   *bytes = VARDATA(result) + gap;

	SET_VARSIZE(result, VARHDRSZ + gap + size + TAG_SIZE);
	memcpy(bytes, VARDATA_ANY(form), size);
	make_tag(bytes, size, (uint8 *) bytes + size);
	pfree(form);
	return result;
}

bytea *
tde_node_send(TdeType *type, Datum value)
{
	bytea	   *result = tagged_form(type, value, MARK_SIZE);

	memcpy(VARDATA(result), MARK, MARK_SIZE);
	return result;
}

char *
tde_node_out(TdeType *type, Datum value)
{
	bytea	   *form = tagged_form(type, value, 0);
	int			size = VARSIZE_ANY_EXHDR(form);
	int			room = pg_b64_enc_len(size);
	char	   *text = palloc(MARK_SIZE + room + 1);
	int			length;

	memcpy(text, MARK, MARK_SIZE);
	length = pg_b64_encode((void *) VARDATA_ANY(form), size, text + MARK_SIZE, room);
	if (length < 0)
		elog(ERROR, "could not encode a value in base64");
	text[MARK_SIZE + length] = '\0';
	pfree(form);
	return text;
}

/* ---- in ---- */

/* Not taken for plaintext: a node with other keys may have written it, whose values would be stored as this text. */
static Datum
parse(TdeType *type, char *bytes, int size)
{
	StringInfoData form = {.data = bytes, .len = size - TAG_SIZE, .maxlen = size};

	if (!is_tagged(bytes, size))
		ereport(ERROR,
				(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
				 errmsg("value is marked as another node's ciphertext, but not of a node with the same hash key"),
				 errhint("Give all nodes the same keys, or set %s to plaintext.", "tde_column.citus_results")));
	/* Citus copies such rows into a shard here: what its columns' constraints and triggers evaluate next is not for nodes */
	tde_node_form_written = false;
	return tde_ciphertext_recv(type, &form);
}

bool
tde_node_in(TdeType *type, const char *text, Datum *value)
{
	size_t		length = strlen(text);
	char	   *bytes;
	int			size;

	if (length <= MARK_SIZE || memcmp(text, MARK, MARK_SIZE) != 0)
		return false;
	bytes = palloc(pg_b64_dec_len(length - MARK_SIZE) + 1);
	size = pg_b64_decode(text + MARK_SIZE, length - MARK_SIZE, (void *) bytes, pg_b64_dec_len(length - MARK_SIZE));
	*value = parse(type, bytes, size);
	pfree(bytes);
	return true;
}

bool
tde_node_recv(TdeType *type, StringInfo message, Datum *value)
{
	char	   *bytes = message->data + message->cursor;
	int			size = message->len - message->cursor;

	if (size <= MARK_SIZE || memcmp(bytes, MARK, MARK_SIZE) != 0)
		return false;
	bytes = memcpy(palloc(size), bytes + MARK_SIZE, size - MARK_SIZE);
	*value = parse(type, bytes, size - MARK_SIZE);
	pfree(bytes);
	message->cursor = message->len;
	return true;
}
