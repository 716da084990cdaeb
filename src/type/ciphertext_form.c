/*
 * ciphertext_form.c - encrypted values that leave and enter a database as they are, without being decrypted: the ciphertext form.
 *
 *	[form 1 byte][byte order 1 byte][type tag 16][key][spec byte][salt, ciphertext, MAC][CRC-32C of all before, 4]
 *
 * is what send() gives and recv() takes; out() and in() have it in base64 behind "tde:".
 *
 *	form 1	key is the 16 bytes of the key's UUID, which is the same wherever the key was imported
 *	form 2	key is the key's row, wrapped: for pg_upgrade, which makes the schema anew before it brings tde.data_keys, and has to
 *			compare partition bounds meanwhile
 *
 * The byte order ('l' or 'b') is the server's: numbers of fixed length are little-endian in every value, but what is inside of
 * numeric, jsonb and other types of variable length is as the machine has it.  The type tag tells a value of another type
 * where no MAC would.  The checksum finds a damaged dump while it is restored, when the source is still there; whether a value
 * is authentic is its MAC's business, when it is read.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/base64.h"
#include "libpq/pqformat.h"
#include "port/pg_crc32c.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

#include "server/compat.h"
#include "server/error.h"
#include "server/extension.h"
#include "server/rights.h"
#include "type/ciphertext_form.h"

#define PREFIX			"tde:"
#define PREFIX_SIZE		(sizeof(PREFIX) - 1)
#define FORM_UUID		1
#define FORM_UPGRADE	2
#define CRC_SIZE		4
#define MIN_SIZE		(2 + TDE_TYPE_TAG_SIZE + UUID_LEN + 1 + CRC_SIZE)

#ifdef WORDS_BIGENDIAN
#define BYTE_ORDER_HERE	'b'
#else
#define BYTE_ORDER_HERE	'l'
#endif

int			tde_io_format = TDE_IO_PLAINTEXT;

/* ---- who may ---- */

/* Throws unless a user may use the form: who may execute tde_ciphertext_io() may. */
static void
check_user(Oid user)
{
	if (!tde_rights_superuser(user) && !tde_extension_may_execute("tde_ciphertext_io", NULL, 0, user))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to read and write encrypted values as ciphertext"),
				 errdetail("%s is ciphertext.", "tde_column.io_format"),
				 errhint("Set it to plaintext, or have EXECUTE granted on function tde_ciphertext_io().")));
}

/* The two that were checked, and in which statement.  A walsender's goes on for days, so that changes of rights count, too. */
static TimestampTz checked_in = 0;
static Oid	checked_user = InvalidOid;
static Oid	checked_outer = InvalidOid;

void
tde_ciphertext_forget_permission(void)
{
	checked_user = checked_outer = InvalidOid;
}

void
tde_ciphertext_check_permission(void)
{
	/* only pg_upgrade and its helpers connect then */
	if (IsBinaryUpgrade)
		return;
	if (checked_in == GetCurrentStatementStartTimestamp() && checked_user == GetUserId() && checked_outer == GetOuterUserId())
		return;
	/* a SECURITY DEFINER function must not lend its owner's right to whoever calls it */
	check_user(GetUserId());
	check_user(GetOuterUserId());
	checked_in = GetCurrentStatementStartTimestamp();
	checked_user = GetUserId();
	checked_outer = GetOuterUserId();
}

/* ---- types that cannot ---- */

/* pg_upgrade keeps the OIDs of enum labels; elsewhere they are others, or others' */
bool
tde_ciphertext_has_form(TdeType *type)
{
	switch (type->base)
	{
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGTYPEOID:
		case REGROLEOID:
		case REGNAMESPACEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
		case ACLITEMOID:
			return false;
		default:
			return get_typtype(type->base) != TYPTYPE_ENUM;
	}
}

static void
refuse_oids(TdeType *type)
{
	if (!IsBinaryUpgrade && !tde_ciphertext_has_form(type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("values of type %s have no ciphertext form", format_type_be(type->oid)),
				 errdetail("They hold OIDs, which differ in another database."),
				 errhint("Set %s to plaintext for such columns.", "tde_column.io_format")));
}

/* ---- a key's row, for pg_upgrade ---- */

/* Adds a key's row, wrapped as it is, in network byte order.  read_row() is the reverse; the two change together with FORM_UPGRADE. */
static void
append_row(StringInfo buf, const TdeDataKey *row)
{
	pq_sendint32(buf, row->id);
	pq_sendbytes(buf, (void *) row->uuid, UUID_LEN);
	pq_sendint32(buf, row->slot);
	pq_sendint32(buf, row->version);
	pq_sendbyte(buf, row->kind);
	pq_sendbyte(buf, row->state);
	pq_sendint64(buf, row->created);
	pq_sendbytes(buf, (void *) row->database, UUID_LEN);
	pq_sendbytes(buf, (void *) row->master, TDE_MASTER_ID_SIZE);
	pq_sendbytes(buf, (void *) row->kcv, TDE_KCV_SIZE);
	pq_sendint32(buf, row->wrapped_size);
	pq_sendbytes(buf, (void *) row->wrapped, row->wrapped_size);
	pq_sendbyte(buf, row->erasable);
	pq_sendbyte(buf, strlen(row->name));
	pq_sendbytes(buf, row->name, strlen(row->name));
}

/* Reads a key's row from a form whose checksum was right.  That keeps nobody from writing one, so lengths are looked at. */
static void
read_row(StringInfo buf, TdeDataKey *row)
{
	int			erasable;
	size_t		length;

	memset(row, 0, sizeof(*row));
	row->id = pq_getmsgint(buf, 4);
	pq_copymsgbytes(buf, (char *) row->uuid, UUID_LEN);
	row->slot = pq_getmsgint(buf, 4);
	row->version = pq_getmsgint(buf, 4);
	row->kind = pq_getmsgbyte(buf);
	row->state = pq_getmsgbyte(buf);
	row->created = pq_getmsgint64(buf);
	pq_copymsgbytes(buf, (char *) row->database, UUID_LEN);
	pq_copymsgbytes(buf, (char *) row->master, TDE_MASTER_ID_SIZE);
	pq_copymsgbytes(buf, (char *) row->kcv, TDE_KCV_SIZE);
	row->wrapped_size = pq_getmsgint(buf, 4);
	if (row->wrapped_size > TDE_MAX_WRAPPED)
		tde_error_throw(TDE_E_AUTH);
	pq_copymsgbytes(buf, (char *) row->wrapped, row->wrapped_size);
	erasable = pq_getmsgbyte(buf);
	row->erasable = erasable == 1;
	length = pq_getmsgbyte(buf);
	if (erasable > 1 || length >= sizeof(row->name))
		tde_error_throw(TDE_E_AUTH);
	pq_copymsgbytes(buf, row->name, length);
	if (strlen(row->name) != length)
		tde_error_throw(TDE_E_AUTH);
}

/* ---- out ---- */

static pg_crc32c
checksum(const char *bytes, size_t size)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, bytes, size);
	FIN_CRC32C(crc);
	return crc;
}

/* Adds the form of a value.  Compressed or out of line, it is fetched whole first. */
static void
append_form(StringInfo buf, TdeType *type, Datum value)
{
	int			start = buf->len;
	struct varlena *stored = PG_DETOAST_DATUM_PACKED(value);
	const char *bytes = VARDATA_ANY(stored);
	size_t		size = VARSIZE_ANY_EXHDR(stored);
	const TdeDataKey *row;
	TdeHeader	header;

	refuse_oids(type);
	if (!tde_header_parse((const uint8 *) bytes, size, &header))
		tde_error_throw(TDE_E_AUTH);
	row = tde_key_row(header.key_id, header.spec);

	pq_sendbyte(buf, IsBinaryUpgrade ? FORM_UPGRADE : FORM_UUID);
	pq_sendbyte(buf, BYTE_ORDER_HERE);
	pq_sendbytes(buf, (void *) type->tag, TDE_TYPE_TAG_SIZE);
	if (IsBinaryUpgrade)
		append_row(buf, row);
	else
		pq_sendbytes(buf, (void *) row->uuid, UUID_LEN);
	pq_sendbyte(buf, header.spec_byte);
	pq_sendbytes(buf, (void *) (bytes + header.size), size - header.size);
	pq_sendint32(buf, checksum(buf->data + start, buf->len - start));
	if ((Pointer) stored != DatumGetPointer(value))
		pfree(stored);
}

char *
tde_ciphertext_out(TdeType *type, Datum value)
{
	StringInfoData buf;
	Size		room;
	char	   *text;
	int			length;

	initStringInfo(&buf);
	append_form(&buf, type, value);
	if (buf.len > MaxAllocSize / 4 * 3 - sizeof(PREFIX))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value is too large for the ciphertext form"),
				 errdetail("It has %d bytes; in base64 it would exceed %zu.", buf.len, (size_t) MaxAllocSize)));
	room = pg_b64_enc_len(buf.len);
	text = palloc(PREFIX_SIZE + room + 1);
	memcpy(text, PREFIX, PREFIX_SIZE);
	length = pg_b64_encode((void *) buf.data, buf.len, text + PREFIX_SIZE, room);
	if (length < 0)
		elog(ERROR, "could not encode a value in base64");
	text[PREFIX_SIZE + length] = '\0';
	pfree(buf.data);
	return text;
}

bytea *
tde_ciphertext_send(TdeType *type, Datum value)
{
	StringInfoData buf;

	pq_begintypsend(&buf);
	append_form(&buf, type, value);
	return pq_endtypsend(&buf);
}

/* ---- in ---- */

static void
damaged_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
			 errmsg("ciphertext form of an encrypted value is damaged"),
			 errdetail("It was truncated or changed.")));
}

static void
not_a_form_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("value is not in the ciphertext form"),
			 errdetail("With %s = ciphertext, only values that were dumped with this setting are accepted.",
					   "tde_column.io_format"),
			 errhint("Set it to plaintext to give values in clear.")));
}

/* Returns true if the checksum at the end is right.  Leaves the cursor at the beginning. */
static bool
is_intact(StringInfo buf)
{
	uint32		crc;

	buf->cursor = buf->len - CRC_SIZE;
	crc = pq_getmsgint(buf, CRC_SIZE);
	buf->cursor = 0;
	return crc == checksum(buf->data, buf->len - CRC_SIZE);
}

/* Reads the head up to the key, which buf is at then.  Throws if it is of another form, byte order or type. */
static void
read_head(StringInfo buf, TdeType *type)
{
	int			form = pq_getmsgbyte(buf);
	int			order = pq_getmsgbyte(buf);

	if (form != (IsBinaryUpgrade ? FORM_UPGRADE : FORM_UUID))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("ciphertext form %d of an encrypted value is not known here", form),
				 errdetail("A later version of the extension wrote it, or pg_upgrade did.")));
	if (order != BYTE_ORDER_HERE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("encrypted value comes from a server with another byte order"),
				 errhint("Dump it with %s set to plaintext.", "tde_column.io_format")));
	if (memcmp(pq_getmsgbytes(buf, TDE_TYPE_TAG_SIZE), type->tag, TDE_TYPE_TAG_SIZE) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("encrypted value is not of type %s", format_type_be(type->oid))));
}

/* Returns the local number of the key.  pg_upgrade's form brings the key's row with it, which is used until tde.data_keys is there. */
static uint32
read_key(StringInfo buf)
{
	const TdeDataKey *row;
	pg_uuid_t	uuid;

	if (IsBinaryUpgrade)
	{
		TdeDataKey	upgraded;

		read_row(buf, &upgraded);
		tde_key_offer(&upgraded);
		return upgraded.id;
	}
	pq_copymsgbytes(buf, (char *) uuid.data, UUID_LEN);
	row = tde_key_row_of_uuid(uuid.data);
	if (row == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
				 errmsg("data key %s is not in this database",
						DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&uuid)))),
				 errdetail("An encrypted value names it."),
				 errhint("Run tde_export_keys() where the value comes from, and tde_import_keys() here.  "
						 "The view tde.keys tells there which version of which key it is.")));
	return row->id;
}

/*
 * Returns the value whose form has these bytes, palloc'd.  The header is parsed once more: its key has another number here, so its size may differ.
 */
static Datum
parse_form(StringInfo buf, TdeType *type)
{
	int			spec_byte;
	uint32		key_id;
	int			size;
	char	   *value;
	int			head;
	TdeHeader	header;

	refuse_oids(type);
	if (buf->len < MIN_SIZE || !is_intact(buf))
		damaged_error();
	buf->len -= CRC_SIZE;

	read_head(buf, type);
	key_id = read_key(buf);
	spec_byte = pq_getmsgbyte(buf);
	size = buf->len - buf->cursor;
	value = palloc(VARHDRSZ + TDE_MAX_HEADER + size);
	head = tde_header_write((uint8 *) VARDATA(value), spec_byte, key_id);
	pq_copymsgbytes(buf, VARDATA(value) + head, size);
	SET_VARSIZE(value, VARHDRSZ + head + size);
	if (!tde_header_parse((uint8 *) VARDATA(value), head + size, &header))
		damaged_error();
	(void) tde_key_row(key_id, header.spec);
	return PointerGetDatum(value);
}

/* The form's bytes, behind the prefix; buf->len is -1 if it is not base64. */
static void
decode(const char *text, StringInfo buf)
{
	size_t		length = strlen(text) - PREFIX_SIZE;

	initStringInfo(buf);
	enlargeStringInfo(buf, pg_b64_dec_len(length));
	buf->len = pg_b64_decode(text + PREFIX_SIZE, length, (void *) buf->data, buf->maxlen);
}

Datum
tde_ciphertext_in(TdeType *type, const char *text)
{
	StringInfoData buf;
	Datum		value;

	if (strncmp(text, PREFIX, PREFIX_SIZE) != 0)
		not_a_form_error();
	decode(text, &buf);
	value = parse_form(&buf, type);
	pfree(buf.data);
	return value;
}

void
tde_ciphertext_explain(void *text)
{
	if (strncmp(text, PREFIX, PREFIX_SIZE) == 0)
		errhint("Set %s to ciphertext to restore an encrypted dump.", "tde_column.io_format");
}

void
tde_ciphertext_suspect(const char *text)
{
	static bool told = false;
	StringInfoData buf;

	if (told || strncmp(text, PREFIX, PREFIX_SIZE) != 0)
		return;
	decode(text, &buf);
	if (buf.len >= MIN_SIZE && is_intact(&buf))
	{
		told = true;
		ereport(WARNING,
				(errmsg("an encrypted value in the ciphertext form is encrypted once more, as if it were plaintext"),
				 errhint("Set %s to ciphertext to restore an encrypted dump.", "tde_column.io_format")));
	}
	pfree(buf.data);
}

Datum
tde_ciphertext_recv(TdeType *type, StringInfo message)
{
	StringInfoData buf;
	Datum		value;
	int			size = message->len - message->cursor;

	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, pq_getmsgbytes(message, size), size);
	value = parse_form(&buf, type);
	pfree(buf.data);
	return value;
}
