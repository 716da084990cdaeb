/*
 * envelope.c - values that applications have encrypted themselves, in the formats of libraries that many use.
 *
 * What has a MAC is authenticated first, compared in constant time.  Whatever is wrong with a value is one and the same error, which quotes
 * nothing of it: where an application has left some in clear, that would be the plaintext.
 *
 * Formats: Fernet is that of Python's cryptography, Rails that of Active Record Encryption, Laravel that of its Encrypter, SQLAlchemy those of
 * SQLAlchemy-Utils' EncryptedType.  Each is a function that returns whether the value could be opened, so that one place makes the error.
 */
#include "postgres.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "import/envelope_json.h"
#include "import/inflate.h"
#include "server/compat.h"
#include "server/module.h"

TDE_MODULE("import", NULL, NULL);

PG_FUNCTION_INFO_V1(tde_import_open_envelope);

#define BLOCK	16
#define TAG		16
#define MAC		32

/* ---- ciphers ---- */

/* Decrypts without OpenSSL's own padding.  tag: of GCM; NULL: the cipher is CBC.  A wrong tag fails at the end, and *size is of no use then. */
static bool
decrypt_with(EVP_CIPHER_CTX *context, const EVP_CIPHER *cipher, const uint8 *key, TdeBytes iv, const TdeBytes *tag, TdeBytes in,
			 uint8 *out, int *size)
{
	int			rest = 0;

	if (EVP_DecryptInit_ex(context, cipher, NULL, NULL, NULL) != 1)
		return false;
	if (tag && (EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_IVLEN, (int) iv.size, NULL) != 1 ||
				EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, (int) tag->size, (void *) tag->data) != 1))
		return false;
	if (EVP_DecryptInit_ex(context, NULL, NULL, key, iv.data) != 1 || EVP_CIPHER_CTX_set_padding(context, 0) != 1 ||
		EVP_DecryptUpdate(context, out, size, in.data, (int) in.size) != 1 || EVP_DecryptFinal_ex(context, out + *size, &rest) != 1)
		return false;
	*size += rest;
	return true;
}

/* Puts into out what is decrypted, of CBC with its padding.  On a failure out is empty, but what is in its memory is the caller's to cleanse. */
static bool
decrypt(const EVP_CIPHER *cipher, const uint8 *key, TdeBytes iv, const TdeBytes *tag, TdeBytes in, StringInfo out)
{
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	int			size = 0;
	bool		done;

	enlargeStringInfo(out, (int) in.size + BLOCK);
	done = context && decrypt_with(context, cipher, key, iv, tag, in, (uint8 *) out->data, &size);
	EVP_CIPHER_CTX_free(context);
	out->len = done ? size : 0;
	return done;
}

/* AES-GCM by the key's size, with an IV of 12 bytes and a tag of 16. */
static bool
decrypt_gcm(TdeBytes key, TdeBytes iv, TdeBytes tag, TdeBytes in, StringInfo out)
{
	return iv.size == 12 && tag.size == TAG && decrypt(key.size == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm(), key.data, iv, &tag, in, out);
}

/* AES-CBC by the key's size.  The padding is left to the caller. */
static bool
decrypt_cbc(TdeBytes key, TdeBytes iv, TdeBytes in, StringInfo out)
{
	return iv.size == BLOCK && in.size > 0 && in.size % BLOCK == 0 &&
		decrypt(key.size == 32 ? EVP_aes_256_cbc() : EVP_aes_128_cbc(), key.data, iv, NULL, in, out);
}

static bool
is_filled(const StringInfoData *out, int from, int to, char c)
{
	for (int i = from; i < to; i++)
		if (out->data[i] != c)
			return false;
	return true;
}

/* Removes the padding of PKCS #7.  Returns false if it is none. */
static bool
remove_padding(StringInfo out)
{
	int			count = out->len > 0 ? (uint8) out->data[out->len - 1] : 0;

	if (count < 1 || count > BLOCK || count > out->len || !is_filled(out, out->len - count, out->len, (char) count))
		return false;
	out->len -= count;
	return true;
}

/* Compares HMAC-SHA256 over both texts, one behind the other, in constant time. */
static bool
has_mac(TdeBytes key, TdeBytes one, TdeBytes other, const uint8 expected[MAC])
{
	uint8		mac[MAC];
	unsigned	size = 0;
	uint8	   *both = palloc(one.size + other.size + 1);

	memcpy(both, one.data, one.size);
	memcpy(both + one.size, other.data, other.size);
	return HMAC(EVP_sha256(), key.data, (int) key.size, both, one.size + other.size, mac, &size) != NULL && size == MAC &&
		CRYPTO_memcmp(mac, expected, MAC) == 0;
}

/* ---- formats: whether the value could be opened with the key, and what it is in clear ---- */

/* 0x80, time, IV, CBC, HMAC of all before; the first half of the key is the HMAC's.  How old a token is does not matter here. */
static bool
open_fernet(TdeBytes value, TdeBytes key, StringInfo out)
{
	const size_t head = 1 + 8 + BLOCK;
	TdeBytes	token;

	if (!tde_envelope_base64(value, &token) || token.size < head + BLOCK + MAC || token.data[0] != 0x80)
		return false;
	token.size -= MAC;
	return has_mac((TdeBytes) {key.data, 16}, token, (TdeBytes) {token.data, 0}, token.data + token.size) &&
		decrypt_cbc((TdeBytes) {key.data + 16, 16}, (TdeBytes) {token.data + 9, BLOCK}, (TdeBytes) {token.data + head, token.size - head}, out) &&
		remove_padding(out);
}

/* Decodes the string of that name. */
static bool
base64_member(TdeBytes object, const char *name, TdeBytes *value)
{
	return tde_envelope_member(object, name, value) && tde_envelope_string(*value, value) && tde_envelope_base64(*value, value);
}

static bool
is_true(TdeBytes object, const char *name)
{
	TdeBytes	value;

	return tde_envelope_member(object, name, &value) && value.size >= 4 && memcmp(value.data, "true", 4) == 0;
}

/* {"p": ciphertext, "h": {"iv": ..., "at": tag, "c": true if compressed}}.  Nothing is decompressed that was not authenticated. */
static bool
open_rails(TdeBytes value, TdeBytes key, StringInfo out)
{
	TdeBytes	payload;
	TdeBytes	headers;
	TdeBytes	iv;
	TdeBytes	tag;
	StringInfoData packed;
	bool		done;

	if (!base64_member(value, "p", &payload) || !tde_envelope_member(value, "h", &headers) || !base64_member(headers, "iv", &iv) ||
		!base64_member(headers, "at", &tag) || !decrypt_gcm(key, iv, tag, payload, out))
		return false;
	if (!is_true(headers, "c"))
		return true;
	packed = *out;
	initStringInfo(out);
	done = tde_inflate((uint8 *) packed.data, packed.len, out);
	OPENSSL_cleanse(packed.data, packed.maxlen);
	return done;
}

/* Returns true if the MAC, in hexadecimal digits, is that of IV and value as they stand there, in base64. */
static bool
has_hex_mac(TdeBytes key, TdeBytes iv, TdeBytes value, TdeBytes digits)
{
	uint8		mac[MAC];

	if (digits.size != sizeof(mac) * 2)
		return false;
	for (int i = 0; i < MAC * 2; i++)
	{
		const char *hex = "0123456789abcdef";
		const char *digit = memchr(hex, digits.data[i], 16);

		if (digit == NULL)
			return false;
		mac[i / 2] = (uint8) (i % 2 == 0 ? (digit - hex) << 4 : mac[i / 2] | (digit - hex));
	}
	return has_mac(key, iv, value, mac);
}

/*
 * Base64 of {"iv": ..., "value": ..., "mac": hexadecimal of CBC, "tag": of GCM}.  A tag decides which of the two it is; the MAC is checked before CBC
 * is decrypted.
 */
static bool
open_laravel(TdeBytes value, TdeBytes key, StringInfo out)
{
	TdeBytes	object;
	TdeBytes	iv;
	TdeBytes	payload;
	TdeBytes	mac;
	TdeBytes	tag;
	TdeBytes	texts[2];

	if (!tde_envelope_base64(value, &object) || !base64_member(object, "iv", &iv) || !base64_member(object, "value", &payload))
		return false;
	if (base64_member(object, "tag", &tag) && tag.size > 0)
		return decrypt_gcm(key, iv, tag, payload, out);
	return tde_envelope_member(object, "iv", &texts[0]) && tde_envelope_string(texts[0], &texts[0]) &&
		tde_envelope_member(object, "value", &texts[1]) && tde_envelope_string(texts[1], &texts[1]) &&
		tde_envelope_member(object, "mac", &mac) && tde_envelope_string(mac, &mac) &&
		has_hex_mac(key, texts[0], texts[1], mac) && decrypt_cbc(key, iv, payload, out) && remove_padding(out);
}

/*
 * AesEngine: CBC without a MAC, whose IV is the key's beginning.  Which of its four paddings it is, the last byte tells: '*' naive, 0x80 and
 * zeros oneandzeroes, a count pkcs5, or zeroes if zeros stand before it.
 */
static bool
open_sqlalchemy(TdeBytes value, TdeBytes key, StringInfo out)
{
	TdeBytes	in;
	int			count;

	if (!tde_envelope_base64(value, &in) || !decrypt_cbc(key, (TdeBytes) {key.data, BLOCK}, in, out))
		return false;
	count = (uint8) out->data[out->len - 1];
	if (count >= 1 && count <= BLOCK && is_filled(out, out->len - count, out->len - 1, '\0'))
		out->len -= count;
	else if (count == '*')
		while (out->len > 0 && out->data[out->len - 1] == '*')
			out->len--;
	else if (count == 0 || count == 0x80)
	{
		while (out->len > 0 && out->data[out->len - 1] == '\0')
			out->len--;
		if (out->len == 0 || (uint8) out->data[out->len - 1] != 0x80)
			return false;
		out->len--;
	}
	else
		return remove_padding(out);
	return true;
}

/* AesGcmEngine: IV, tag, ciphertext. */
static bool
open_sqlalchemy_gcm(TdeBytes value, TdeBytes key, StringInfo out)
{
	TdeBytes	in;

	return tde_envelope_base64(value, &in) && in.size >= 12 + TAG &&
		decrypt_gcm(key, (TdeBytes) {in.data, 12}, (TdeBytes) {in.data + 12, TAG}, (TdeBytes) {in.data + 12 + TAG, in.size - 12 - TAG}, out);
}

/* A format, by the name that users give it. */
typedef struct Format
{
	const char *name;
	bool		(*open) (TdeBytes value, TdeBytes key, StringInfo out);
	bool		short_keys;		/* of 16 bytes, too */
} Format;

static const Format formats[] = {
	{"fernet", open_fernet, false},
	{"rails", open_rails, false},
	{"laravel", open_laravel, true},
	{"sqlalchemy", open_sqlalchemy, false},
	{"sqlalchemy-gcm", open_sqlalchemy_gcm, false}
};

/* ---- the function ---- */

static const Format *
find_format(const char *name)
{
	for (int i = 0; i < lengthof(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("format \"%s\" of encrypted values is unknown", name),
			 errhint("Formats are fernet, rails, laravel, sqlalchemy and sqlalchemy-gcm.")));
}

/* The bytes of a text or bytea; they are not copied. */
static TdeBytes
bytes_of(const void *varlena)
{
	return (TdeBytes) {(const uint8 *) VARDATA_ANY(varlena), VARSIZE_ANY_EXHDR(varlena)};
}

/* Throws if the key has another size than the format's.  A text of the key, such as base64, has another size, too. */
static void
check_key(const Format *format, TdeBytes key)
{
	if (key.size == 32 || (format->short_keys && key.size == 16))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a key of format \"%s\" has %s bytes, not %zu", format->name, format->short_keys ? "32 or 16" : "32", key.size),
			 errhint("It is the key itself, not the text that an application's configuration has it in: docs/moving-data.md tells how to get it.")));
}

/* tde_open_envelope(format text, value text, key bytea) returns text - what an application has encrypted, in clear. */
Datum
tde_import_open_envelope(PG_FUNCTION_ARGS)
{
	const Format *format = find_format(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	TdeBytes	value = bytes_of(PG_GETARG_TEXT_PP(1));
	TdeBytes	key = bytes_of(PG_GETARG_BYTEA_PP(2));
	StringInfoData out;
	char	   *converted;
	text	   *result;

	check_key(format, key);
	initStringInfo(&out);
	/* GCM and CBC take no more at once */
	if (value.size > MaxAllocSize / 4 || !format->open(value, key, &out) || !pg_verify_mbstr(PG_UTF8, out.data, out.len, true))
	{
		OPENSSL_cleanse(out.data, out.maxlen);
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value cannot be opened as %s", format->name),
				 errdetail("It is damaged, of another format, no text, or encrypted under another key.")));
	}
	out.data[out.len] = '\0';
	converted = pg_any_to_server(out.data, out.len, PG_UTF8);
	result = converted == out.data ? cstring_to_text_with_len(out.data, out.len) : cstring_to_text(converted);
	OPENSSL_cleanse(out.data, out.maxlen);
	PG_RETURN_TEXT_P(result);
}
