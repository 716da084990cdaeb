/*
 * tde_typmod.c - parsing, packing and printing of type modifiers.
 */
#include "postgres.h"

#include "datatype/timestamp.h"
#include "lib/stringinfo.h"

#include "tde_compat.h"
#include "tde_typmod.h"

#define CIPHER_SHIFT	28
#define MODE_BIT		(1 << 27)
#define SALT_BIT		(1 << 26)
#define MAC_SHIFT		24

#define SCALE_BITS		6
#define SCALE_MASK		((1 << SCALE_BITS) - 1)

TdeSpec		tde_default_spec = {TDE_AES256, TDE_CTR, TDE_SHA1, true};

/* What the words of one list have set so far. */
typedef struct ParsedWords
{
	int			cipher;			/* 0: not set */
	int			mode;			/* the others: -1 */
	int			salt;
	int			mac;
	int32		slot;
} ParsedWords;

typedef struct WordMeaning
{
	const char *word;
	size_t		field;			/* offset in ParsedWords */
	int			code;
} WordMeaning;

static const WordMeaning meanings[] = {
	{"aes128", offsetof(ParsedWords, cipher), TDE_AES128},
	{"aes192", offsetof(ParsedWords, cipher), TDE_AES192},
	{"aes256", offsetof(ParsedWords, cipher), TDE_AES256},
	{"3des168", offsetof(ParsedWords, cipher), TDE_3DES168},
	{"des3", offsetof(ParsedWords, cipher), TDE_3DES168},
	{"ctr", offsetof(ParsedWords, mode), TDE_CTR},
	{"cbc", offsetof(ParsedWords, mode), TDE_CBC},
	{"salt", offsetof(ParsedWords, salt), true},
	{"nosalt", offsetof(ParsedWords, salt), false},
	{"mac", offsetof(ParsedWords, mac), TDE_SHA1},
	{"sha1", offsetof(ParsedWords, mac), TDE_SHA1},
	{"sha256", offsetof(ParsedWords, mac), TDE_SHA256},
	{"nomac", offsetof(ParsedWords, mac), TDE_NOMAC},
};

/* Bits that the key slot gets under a layout; base modifiers get the rest of 24. */
static int
slot_bits(TdeModLayout layout)
{
	switch (layout)
	{
		case TDE_MOD_NONE:
			return 24;
		case TDE_MOD_PRECISION:
			return 20;
		case TDE_MOD_NUMERIC:
		case TDE_MOD_LENGTH:
		case TDE_MOD_OTHER:
		case TDE_MOD_LARGE:
			break;
	}
	return 12;
}

/* "key=7": only numbers here; names are resolved before. */
static char *
take_key(ParsedWords *parsed, const char *word)
{
	char	   *end;
	long		number;

	if (parsed->slot >= 0)
		return psprintf("More than one key is named.");
	errno = 0;
	number = strtol(word, &end, 10);
	if (*word < '0' || *word > '9' || *end != '\0' || errno != 0 || number > 0xffffff)
		return psprintf("Key \"%s\" does not exist.", word);
	parsed->slot = (int32) number;
	return NULL;
}

static char *
take_word(ParsedWords *parsed, const char *word)
{
	if (pg_strncasecmp(word, "key=", 4) == 0)
		return take_key(parsed, word + 4);

	for (size_t i = 0; i < lengthof(meanings); i++)
	{
		int		   *field = (int *) ((char *) parsed + meanings[i].field);

		if (pg_strcasecmp(word, meanings[i].word) != 0)
			continue;
		if (*field > 0 || (*field == 0 && meanings[i].field != offsetof(ParsedWords, cipher)))
			return psprintf("Modifier \"%s\" contradicts or repeats an earlier one.", word);
		*field = meanings[i].code;
		return NULL;
	}
	return psprintf("Modifier \"%s\" is not known.", word);
}

/* CBC where nothing else is possible. */
static bool
only_cbc(TdeSpec spec)
{
	return spec.cipher == TDE_3DES168 || (!spec.salted && spec.mac == TDE_NOMAC);
}

char *
tde_words_parse(List *words, const TdeSpec *defaults, TdeSpec *spec, int32 *slot)
{
	ParsedWords parsed = {0, -1, -1, -1, -1};
	ListCell   *cell;
	const char *refused;

	foreach(cell, words)
	{
		char	   *problem = take_word(&parsed, (char *) lfirst(cell));

		if (problem)
			return problem;
	}
	if (parsed.slot >= 0 && slot == NULL)
		return psprintf("A key cannot be named here.");

	*spec = *defaults;
	if (parsed.cipher > 0 || parsed.mode >= 0 || parsed.salt >= 0 || parsed.mac >= 0)
	{
		if (parsed.cipher > 0)
			spec->cipher = parsed.cipher;
		if (parsed.salt >= 0)
			spec->salted = parsed.salt;
		if (parsed.mac >= 0)
			spec->mac = parsed.mac;
		if (parsed.mode >= 0)
			spec->mode = parsed.mode;
		else
			spec->mode = only_cbc(*spec) ? TDE_CBC : TDE_CTR;
	}
	if (slot)
		*slot = Max(parsed.slot, 0);

	refused = tde_spec_refused(*spec);
	return refused ? psprintf("%s.", refused) : NULL;
}

static uint32
pack_base(TdeModLayout layout, int32 base_typmod)
{
	int			precision;
	int			scale;
	int32		length;

	if (base_typmod < 0 || layout == TDE_MOD_NONE)
		return 0;
	switch (layout)
	{
		case TDE_MOD_NUMERIC:
			precision = ((base_typmod - VARHDRSZ) >> 16) & 0xffff;
			scale = (((base_typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;	/* 11 bits, signed: numeric.c */
			if (precision > SCALE_MASK - 1 || scale < 0 || scale > SCALE_MASK)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("NUMERIC(%d,%d) does not fit into the modifier of an encrypted type", precision, scale),
						 errdetail("The precision may be at most %d, and the scale 0 to %d.", SCALE_MASK - 1, SCALE_MASK),
						 errhint("Leave precision and scale away and use a CHECK constraint.")));
			return ((uint32) (precision + 1) << SCALE_BITS) | (uint32) scale;
		case TDE_MOD_LENGTH:
			length = base_typmod - VARHDRSZ;
			if (length > 4094)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("length %d does not fit into the modifier of an encrypted type", length),
						 errdetail("The length may be at most 4094."),
						 errhint("Use encrypted_text and a CHECK constraint on the length.")));
			return (uint32) length + 1;
		case TDE_MOD_PRECISION:
			return (uint32) (base_typmod & 0xf) + 1;
		case TDE_MOD_OTHER:
		case TDE_MOD_LARGE:
			if (base_typmod > 4094 || layout == TDE_MOD_LARGE)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("modifier of the base type does not fit into the modifier of an encrypted type"),
						 errhint("Leave it away and use a CHECK constraint.")));
			return (uint32) base_typmod + 1;
		case TDE_MOD_NONE:
			break;
	}
	return 0;
}

/* Can pack_base() have made these bits? */
static bool
base_possible(TdeModLayout layout, uint32 bits)
{
	switch (layout)
	{
		case TDE_MOD_NUMERIC:
			return bits == 0 || bits >> SCALE_BITS >= 2;	/* the precision is at least 1, and stored + 1 */
		case TDE_MOD_PRECISION:
			return bits <= MAX_TIMESTAMP_PRECISION + 1;
		case TDE_MOD_LENGTH:
			return bits != 1;	/* the length is at least 1 */
		case TDE_MOD_LARGE:
			return bits == 0;
		case TDE_MOD_OTHER:
		case TDE_MOD_NONE:
			break;
	}
	return true;
}

static int32
unpack_base(TdeModLayout layout, uint32 bits)
{
	if (bits == 0)
		return -1;
	switch (layout)
	{
		case TDE_MOD_NUMERIC:
			return (int32) ((((bits >> SCALE_BITS) - 1) << 16) | (bits & SCALE_MASK)) + VARHDRSZ;
		case TDE_MOD_LENGTH:
			return (int32) bits - 1 + VARHDRSZ;
		case TDE_MOD_PRECISION:
		case TDE_MOD_OTHER:
			return (int32) bits - 1;
		case TDE_MOD_LARGE:
		case TDE_MOD_NONE:
			break;
	}
	return -1;
}

int32
tde_typmod_pack(TdeModLayout layout, const TdeModifiers *mods)
{
	int			bits = slot_bits(layout);
	TdeSpec		spec = mods->spec;

	if (mods->slot < 0 || mods->slot >= (1 << bits))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key slot %d does not fit into the modifier of this type", mods->slot),
				 errdetail("Slots up to %d can be named.", (1 << bits) - 1)));

	return (int32) (((uint32) spec.cipher << CIPHER_SHIFT) |
					(spec.mode == TDE_CBC ? MODE_BIT : 0) |
					(spec.salted ? SALT_BIT : 0) |
					((uint32) spec.mac << MAC_SHIFT) |
					(pack_base(layout, mods->base_typmod) << bits) |
					(uint32) mods->slot);
}

TdeModifiers
tde_typmod_unpack(TdeModLayout layout, int32 typmod)
{
	int			bits = slot_bits(layout);
	uint32		low = (uint32) typmod & ((1 << MAC_SHIFT) - 1);
	TdeModifiers mods;

	mods.spec.cipher = (typmod >> CIPHER_SHIFT) & 7;
	mods.spec.mode = (typmod & MODE_BIT) ? TDE_CBC : TDE_CTR;
	mods.spec.salted = (typmod & SALT_BIT) != 0;
	mods.spec.mac = (typmod >> MAC_SHIFT) & 3;
	if (typmod < 0 || tde_spec_refused(mods.spec) != NULL || !base_possible(layout, low >> bits))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type modifier %d for an encrypted type", typmod)));
	mods.slot = (int32) (low & ((1u << bits) - 1));
	mods.base_typmod = unpack_base(layout, low >> bits);
	return mods;
}

int32
tde_typmod_default(TdeModLayout layout)
{
	TdeModifiers mods = {tde_default_spec, 0, -1};

	return tde_typmod_pack(layout, &mods);
}

char *
tde_typmod_words(TdeSpec spec, int32 slot)
{
	StringInfoData buf;

	initStringInfo(&buf);
	/* a word that begins with a digit is not an identifier */
	appendStringInfo(&buf, spec.cipher == TDE_3DES168 ? "'%s'" : "%s", tde_cipher_word(spec));
	if (spec.mode == TDE_CBC && !only_cbc(spec))
		appendStringInfoString(&buf, ",cbc");
	appendStringInfo(&buf, ",%s,%s", tde_salt_word(spec), tde_mac_word(spec));
	if (slot != 0)
		appendStringInfo(&buf, ",'key=%d'", slot);
	return buf.data;
}
