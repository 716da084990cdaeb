/*
 * envelope_json.h - members of the JSON objects that applications keep encrypted values in, and base64.
 *
 * Nothing of it throws because of the text, or quotes it.  What is decoded is palloc'd; members point into the object.
 */
#ifndef TDE_IMPORT_ENVELOPE_JSON_H
#define TDE_IMPORT_ENVELOPE_JSON_H

/* Some bytes of a value. */
typedef struct TdeBytes
{
	const uint8 *data;
	size_t		size;
} TdeBytes;

/* Finds the member of that name, as it stands in the object's text.  Returns false if there is none, or the text is no object. */
extern bool tde_envelope_member(TdeBytes object, const char *name, TdeBytes *value);

/* Decodes the characters of a string of JSON, of which only a slash may be escaped.  Returns false if it is none. */
extern bool tde_envelope_string(TdeBytes json, TdeBytes *value);

/* Decodes base64 of either alphabet, with or without its padding (RFC 4648).  Returns false if it is malformed. */
extern bool tde_envelope_base64(TdeBytes text, TdeBytes *value);

#endif							/* TDE_IMPORT_ENVELOPE_JSON_H */
