/*
 * modifier_words.c - modifiers as the words of a declaration or a setting, and as words again.
 *
 * Words come from declarations, such as tde_numeric(10, 2, aes128, nosalt), and from tde_column.default_spec.  Some imply others: without salt and
 * MAC only CBC is possible.  What a word leaves open is filled from defaults; what somebody writes is never changed, but refused if it is impossible.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "crypto/primitives.h"
#include "keys/modifiers.h"

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

/* A word, and what it sets in ParsedWords. */
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

/*
 * Takes "7" of "key=7".  Only numbers come here; names are resolved before (ddl/typmod_functions.c).  Returns NULL or what is wrong, palloc'd, as its
 * like below do.
 */
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

/* Takes "16" of "pad=16", "max", or "0" for none. */
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

/*
 * Takes one word of a list.  A second word about the same part is an error even if it says the same.  Only the cipher is unset at 0; code 0 is a
 * value of the others.
 */
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
tde_modifiers_know_word(const char *word)
{
	if (pg_strncasecmp(word, "key=", 4) == 0 || pg_strncasecmp(word, "pad=", 4) == 0)
		return true;
	for (size_t i = 0; i < lengthof(meanings); i++)
		if (pg_strcasecmp(word, meanings[i].word) == 0)
			return true;
	return false;
}

/* Returns true if nothing but CBC is possible. */
static bool
only_cbc(TdeSpec spec)
{
	return spec.cipher == TDE_3DES168 || (!spec.salted && spec.mac == TDE_NOMAC);
}

/* Returns true if GCM cannot be.  A default is replaced then, since what somebody writes must not contradict what he does not. */
static bool
never_gcm(TdeSpec spec)
{
	return spec.cipher == TDE_3DES168 || spec.mode == TDE_CBC || (!spec.salted && tde_crypto_fips());
}

TdeSpec
tde_modifiers_unsalted(TdeSpec spec)
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
tde_modifiers_set_pad(TdeModifiers *mods, int pad)
{
	mods->pad = (uint16) (mods->spec.mac == TDE_GCM ? pad : 0);
	if (mods->spec.mode != TDE_CBC)
		mods->spec.mode = mods->pad > 0 ? TDE_PADDED : TDE_CTR;
}

char *
tde_modifiers_parse(List *words, const TdeModifiers *defaults, bool names_key, TdeModifiers *mods)
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
	tde_modifiers_set_pad(mods, mods->pad);
	return NULL;
}

char *
tde_modifiers_words(const TdeModifiers *mods)
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
