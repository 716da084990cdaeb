/*
 * typmod.c - parsing, packing and printing of type modifiers.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "utils/numeric.h"

#include "crypto/primitives.h"
#include "keys/typmod.h"
#include "server/compat.h"

#define CIPHER_SHIFT	28
#define CIPHER_NUMBER	7
#define MODE_BIT		(1 << 27)
#define SALT_BIT		(1 << 26)
#define MAC_SHIFT		24
#define LOW_MASK		((1 << MAC_SHIFT) - 1)

#define SCALE_BITS		6
#define SCALE_MASK		((1 << SCALE_BITS) - 1)
#define LENGTH_MAX		4094

#define PAD_SHIFT		12		/* above a key slot of as many bits */
#define PAD_MASK		0xfff
#define ROW_UNORDERED	0x80
#define ROW_PAD_SHIFT	8

TdeModifiers tde_default_modifiers = TDE_SHIPPED_MODIFIERS;

/* What the words of one list have set so far. */
typedef struct ParsedWords
{
	int			cipher;			/* 0: not set */
	int			mode;			/* the others: -1 */
	int			salt;
	int			mac;
	int			unordered;
	int			pad;
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
	{"gcm", offsetof(ParsedWords, mac), TDE_GCM},
	{"nomac", offsetof(ParsedWords, mac), TDE_NOMAC},
	{"ordered", offsetof(ParsedWords, unordered), false},
	{"unordered", offsetof(ParsedWords, unordered), true},
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
	if (*word < '0' || *word > '9' || *end != '\0' || errno != 0 || number > PG_INT32_MAX)
		return psprintf("Key \"%s\" does not exist.", word);
	parsed->slot = (int32) number;
	return NULL;
}

/* "pad=16", "pad=max", or "pad=0", none. */
static char *
take_pad(ParsedWords *parsed, const char *word)
{
	bool		longest = pg_strcasecmp(word, "max") == 0;
	long		number = longest ? TDE_PAD_MAX : strtol(word, NULL, 10);

	if (parsed->pad >= 0)
		return psprintf("Padding is named more than once.");
	if (!longest && (strlen(word) > 4 || strspn(word, "0123456789") != strlen(word) || *word == '\0' || number == 1 || number > TDE_PAD_LARGEST))
		return psprintf("Values are padded to a multiple of 2 to %d bytes, or to \"max\".", TDE_PAD_LARGEST);
	parsed->pad = (int) number;
	return NULL;
}

static char *
take_word(ParsedWords *parsed, const char *word)
{
	if (pg_strncasecmp(word, "key=", 4) == 0)
		return take_key(parsed, word + 4);
	if (pg_strncasecmp(word, "pad=", 4) == 0)
		return take_pad(parsed, word + 4);

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

bool
tde_typmod_words_know(const char *word)
{
	if (pg_strncasecmp(word, "key=", 4) == 0 || pg_strncasecmp(word, "pad=", 4) == 0)
		return true;
	for (size_t i = 0; i < lengthof(meanings); i++)
		if (pg_strcasecmp(word, meanings[i].word) == 0)
			return true;
	return false;
}

/* CBC where nothing else is possible. */
static bool
only_cbc(TdeSpec spec)
{
	return spec.cipher == TDE_3DES168 || (!spec.salted && spec.mac == TDE_NOMAC);
}

/* GCM where it cannot be; a default is replaced then, since what somebody writes must not contradict what he does not. */
static bool
never_gcm(TdeSpec spec)
{
	return spec.cipher == TDE_3DES168 || spec.mode == TDE_CBC || (!spec.salted && tde_crypto_fips());
}

TdeSpec
tde_typmod_unsalted(TdeSpec spec)
{
	spec.salted = false;
	if (spec.mac == TDE_NOMAC)
		spec.mode = TDE_CBC;
	if (spec.mac == TDE_GCM && never_gcm(spec))
	{
		spec.mac = TDE_SHA256;
		spec.mode = TDE_CTR;
	}
	return spec;
}

void
tde_typmod_set_pad(TdeModifiers *mods, int pad)
{
	mods->pad = (uint16) (mods->spec.mac == TDE_GCM ? pad : 0);
	if (mods->spec.mode != TDE_CBC)
		mods->spec.mode = mods->pad > 0 ? TDE_PADDED : TDE_CTR;
}

char *
tde_typmod_words_parse(List *words, const TdeModifiers *defaults, bool names_key, TdeModifiers *mods)
{
	ParsedWords parsed = {0, -1, -1, -1, -1, -1, -1};
	TdeSpec    *spec = &mods->spec;
	ListCell   *cell;
	const char *refused;

	foreach(cell, words)
	{
		char	   *problem = take_word(&parsed, (char *) lfirst(cell));

		if (problem)
			return problem;
	}
	if (parsed.slot >= 0 && !names_key)
		return psprintf("A key cannot be named here.");

	*mods = *defaults;
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
		if (parsed.mac < 0 && spec->mac == TDE_GCM && never_gcm(*spec))
			spec->mac = TDE_SHA256;
		mods->unordered = false;
		mods->pad = 0;
	}
	mods->slot = Max(parsed.slot, 0);
	if (parsed.unordered >= 0)
		mods->unordered = parsed.unordered;
	if (parsed.pad >= 0)
		mods->pad = (uint16) parsed.pad;

	if (mods->pad > 0 && spec->mac != TDE_GCM)
		spec->mode = TDE_PADDED;	/* which is refused */
	refused = tde_spec_refused(*spec);
	if (refused)
		return psprintf("%s.", refused);
	tde_typmod_set_pad(mods, mods->pad);
	return NULL;
}

static bool
pack_base(TdeModLayout layout, int32 base_typmod, uint32 *bits)
{
	int			precision;
	int			scale;
	int32		length;

	*bits = 0;
	if (base_typmod < 0)
		return true;
	switch (layout)
	{
		case TDE_MOD_NUMERIC:
			precision = ((base_typmod - VARHDRSZ) >> 16) & 0xffff;
			scale = (((base_typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024; /* 11 bits, signed: numeric.c */
			*bits = ((uint32) (precision + 1) << SCALE_BITS) | (uint32) scale;
			return precision < SCALE_MASK && scale >= 0 && scale <= SCALE_MASK;
		case TDE_MOD_LENGTH:
			length = base_typmod - VARHDRSZ;
			*bits = (uint32) length + 1;
			return length <= LENGTH_MAX;
		case TDE_MOD_PRECISION:
			*bits = (uint32) (base_typmod & 0xf) + 1;
			return true;
		case TDE_MOD_OTHER:
			*bits = (uint32) base_typmod + 1;
			return base_typmod <= LENGTH_MAX;
		case TDE_MOD_LARGE:
		case TDE_MOD_NONE:
			break;
	}
	return layout == TDE_MOD_NONE;
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

bool
tde_typmod_base_valid(TdeModLayout layout, int32 base_typmod)
{
	int32		value = base_typmod - VARHDRSZ;
	int			scale = ((value & 0x7ff) ^ 1024) - 1024;	/* as above */

	if (base_typmod == -1)
		return true;
	switch (layout)
	{
		case TDE_MOD_NUMERIC:
			return value > 0 && value >> 16 >= 1 && value >> 16 <= NUMERIC_MAX_PRECISION &&
				scale >= -NUMERIC_MAX_PRECISION && scale <= NUMERIC_MAX_PRECISION;
		case TDE_MOD_LENGTH:
			return value >= 1 && value <= MaxAttrSize;
		case TDE_MOD_PRECISION:
			return base_typmod >= 0 && base_typmod <= MAX_TIMESTAMP_PRECISION;
		case TDE_MOD_OTHER:
		case TDE_MOD_LARGE:
			return base_typmod >= 0;
		case TDE_MOD_NONE:
			break;
	}
	return false;
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
tde_typmod_spec_bits(TdeSpec spec)
{
	return ((spec.cipher << CIPHER_SHIFT) | (spec.mode != TDE_CTR ? MODE_BIT : 0) | (spec.salted ? SALT_BIT : 0) |
			(spec.mac << MAC_SHIFT)) >> MAC_SHIFT;
}

TdeSpec
tde_typmod_spec(int32 bits)
{
	uint32		typmod = (uint32) bits << MAC_SHIFT;
	TdeSpec		spec;

	spec.cipher = (typmod >> CIPHER_SHIFT) & 7;
	spec.salted = (typmod & SALT_BIT) != 0;
	spec.mac = (typmod >> MAC_SHIFT) & 3;
	spec.mode = (typmod & MODE_BIT) == 0 ? TDE_CTR : spec.mac == TDE_GCM ? TDE_PADDED : TDE_CBC;
	return spec;
}

int32
tde_typmod_row_bits(const TdeModifiers *mods)
{
	return tde_typmod_spec_bits(mods->spec) | (mods->unordered ? ROW_UNORDERED : 0) | (mods->pad > 0 ? (mods->pad - 1) << ROW_PAD_SHIFT : 0);
}

void
tde_typmod_read_row_bits(int32 bits, TdeModifiers *mods)
{
	mods->spec = tde_typmod_spec(bits);
	mods->unordered = (bits & ROW_UNORDERED) != 0;
	mods->pad = mods->spec.mode == TDE_PADDED ? ((bits >> ROW_PAD_SHIFT) & PAD_MASK) + 1 : 0;
}

/* The same in a typmod, where there are bits for nothing but a key beside it. */
static bool
pack_pad(const TdeModifiers *mods, int32 *typmod)
{
	if (mods->pad == TDE_PAD_MAX || mods->unordered || mods->base_typmod >= 0 || mods->slot < 0 || mods->slot >= 1 << PAD_SHIFT)
		return false;
	*typmod = (tde_typmod_spec_bits(mods->spec) << MAC_SHIFT) | ((mods->pad - 1) << PAD_SHIFT) | mods->slot;
	return true;
}

bool
tde_typmod_pack(TdeModLayout layout, const TdeModifiers *mods, int32 *typmod)
{
	int			bits = slot_bits(layout);
	uint32		base;

	if (mods->pad > 0)
		return pack_pad(mods, typmod);
	if (mods->unordered || mods->slot < 0 || mods->slot >= (1 << bits) || !pack_base(layout, mods->base_typmod, &base))
		return false;
	*typmod = (int32) (((uint32) tde_typmod_spec_bits(mods->spec) << MAC_SHIFT) | (base << bits) | (uint32) mods->slot);
	return true;
}

void
tde_typmod_invalid(int32 typmod)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid type modifier %d for an encrypted type", typmod)));
}

static TdeModifiers
unpack_pad(int32 typmod)
{
	TdeModifiers mods = {tde_typmod_spec(typmod >> MAC_SHIFT), typmod & ((1 << PAD_SHIFT) - 1), -1};

	mods.pad = ((typmod >> PAD_SHIFT) & PAD_MASK) + 1;
	if (mods.pad == TDE_PAD_MAX)
		tde_typmod_invalid(typmod);
	return mods;
}

TdeModifiers
tde_typmod_unpack(TdeModLayout layout, int32 typmod)
{
	int			bits = slot_bits(layout);
	uint32		low = (uint32) typmod & LOW_MASK;
	TdeModifiers mods;

	mods.spec = tde_typmod_spec(typmod >> MAC_SHIFT);
	if (typmod < 0 || tde_spec_refused(mods.spec) != NULL)
		tde_typmod_invalid(typmod);
	if (mods.spec.mode == TDE_PADDED)
		return unpack_pad(typmod);
	if (!base_possible(layout, low >> bits))
		tde_typmod_invalid(typmod);
	mods.slot = (int32) (low & ((1u << bits) - 1));
	mods.base_typmod = unpack_base(layout, low >> bits);
	mods.unordered = false;
	mods.pad = 0;
	return mods;
}

int32
tde_typmod_of_number(TdeSpec spec, int32 number)
{
	spec.cipher = CIPHER_NUMBER;
	return (tde_typmod_spec_bits(spec) << MAC_SHIFT) | number;
}

int32
tde_typmod_number(int32 typmod)
{
	return typmod >= 0 && typmod >> CIPHER_SHIFT == CIPHER_NUMBER ? typmod & LOW_MASK : 0;
}

int32
tde_typmod_default(void)
{
	TdeModifiers mods = tde_default_modifiers;

	tde_typmod_set_pad(&mods, 0);
	return tde_typmod_spec_bits(mods.spec) << MAC_SHIFT;
}

char *
tde_typmod_words(const TdeModifiers *mods)
{
	TdeSpec		spec = mods->spec;
	StringInfoData buf;

	initStringInfo(&buf);
	/* a word that begins with a digit is not an identifier */
	appendStringInfo(&buf, spec.cipher == TDE_3DES168 ? "'%s'" : "%s", tde_spec_cipher_word(spec));
	if (spec.mode == TDE_CBC && !only_cbc(spec))
		appendStringInfoString(&buf, ",cbc");
	appendStringInfo(&buf, ",%s,%s", tde_spec_salt_word(spec), tde_spec_mac_word(spec));
	if (mods->unordered)
		appendStringInfoString(&buf, ",unordered");
	if (mods->pad == TDE_PAD_MAX)
		appendStringInfoString(&buf, ",'pad=max'");
	else if (mods->pad > 0)
		appendStringInfo(&buf, ",'pad=%d'", mods->pad);
	return buf.data;
}
