/*
 * envelope_json.h - members of the JSON objects that applications keep encrypted values in, and base64.
 */
#ifndef TDE_IMPORT_ENVELOPE_JSON_H
#define TDE_IMPORT_ENVELOPE_JSON_H

/* Some bytes of a value. */
typedef struct TdeBytes
{
	const uint8 *data;
	size_t		size;
} TdeBytes;

/* The member of that name, as it stands in the object's text; false if there is none, or the text is no object. */
extern bool tde_envelope_member(TdeBytes object, const char *name, TdeBytes *value);

/* The characters of a string of JSON, of which only a slash may be escaped; false if it is none. */
extern bool tde_envelope_string(TdeBytes json, TdeBytes *value);

/* What base64 stands for, of either alphabet, with or without its padding; false if it is malformed. */
extern bool tde_envelope_base64(TdeBytes text, TdeBytes *value);

#endif							/* TDE_IMPORT_ENVELOPE_JSON_H */
