/*
 * required.c - the setting tde_column.require: what standards exclude, and what of this server is in their way.
 *
 * What a standard excludes is neither declared nor written.  It is still read, compared and searched: a setting loses nobody's data.  What
 * statements and catalogs have beside the values of columns is not up to columns: literals, what passes through sorts and between processes, and
 * statistics.  docs/compliance.md argues for each row.
 */
#include "postgres.h"

#include "crypto/primitives.h"
#include "keys/limits.h"
#include "keys/required.h"
#include "keys/modifiers.h"

/* A word of the setting, and its bit. */
typedef struct Standard
{
	int			bit;
	const char *word;
} Standard;

static const Standard standards[] = {
	{TDE_REQUIRE_FIPS, "fips"},
	{TDE_REQUIRE_PCI, "pci"},
	{TDE_REQUIRE_CNSA2, "cnsa2"},
};

int			tde_required = 0;

/* ---- what is excluded of specifications ---- */

/* A row of what standards exclude.  The texts are parts of messages. */
struct TdeExclusion
{
	int			standards;		/* bits of those that exclude it */
	bool		(*applies) (TdeSpec spec);	/* to this specification */
	const char *what;			/* behind "... excludes " */
	const char *why;
	const char *hint;
};

static bool
outside_module(TdeSpec spec)
{
	return !tde_crypto_fips();
}

static bool
is_triple_des(TdeSpec spec)
{
	return spec.cipher == TDE_3DES168;
}

static bool
is_gcm_siv(TdeSpec spec)
{
	return spec.mac == TDE_GCM && !spec.salted;
}

static bool
has_no_mac(TdeSpec spec)
{
	return spec.mac == TDE_NOMAC;
}

static bool
has_constant_iv(TdeSpec spec)
{
	return spec.mac == TDE_NOMAC && !spec.salted;
}

static bool
has_short_key(TdeSpec spec)
{
	return spec.cipher != TDE_AES256;
}

static bool
has_short_hash(TdeSpec spec)
{
	return spec.mac == TDE_SHA1 || spec.mac == TDE_SHA256;
}

#define SATISFIES_ALL "Columns with aes256, salt and gcm satisfy all standards."

static const TdeExclusion unvalidated = {
	TDE_REQUIRE_FIPS, outside_module, "encryption outside of a validated module", "OpenSSL is not restricted to its FIPS provider.",
	"Start the server with an OpenSSL configuration that has \"default_properties = fips=yes\"."
};

static const TdeExclusion exclusions[] = {
	{TDE_REQUIRE_ALL, is_triple_des, "triple DES", "NIST allows no encryption by it after 2023 (SP 800-131A).", SATISFIES_ALL},
	{TDE_REQUIRE_FIPS | TDE_REQUIRE_CNSA2, is_gcm_siv, "AES-GCM-SIV (gcm without salt)", "NIST has not approved this mode.", SATISFIES_ALL},
	{TDE_REQUIRE_FIPS | TDE_REQUIRE_CNSA2, has_constant_iv, "CBC under a constant IV (nosalt, nomac)", "SP 800-38A asks for an IV that cannot be predicted.", SATISFIES_ALL},
	{TDE_REQUIRE_PCI | TDE_REQUIRE_CNSA2, has_no_mac, "encryption without a MAC", "Changed bytes would go unnoticed.", SATISFIES_ALL},
	{TDE_REQUIRE_CNSA2, has_short_key, "a key of less than 256 bits", "CNSA 2.0 has AES-256 alone.", SATISFIES_ALL},
	{TDE_REQUIRE_CNSA2, has_short_hash, "HMAC with SHA-1 or SHA-256", "CNSA 2.0 has SHA-384 and SHA-512 alone.", SATISFIES_ALL},
};

/* Returns the first of these that a required standard has and that applies; NULL if none does. */
static const TdeExclusion *
find(const TdeExclusion *list, size_t count, TdeSpec spec)
{
	for (size_t i = 0; i < count; i++)
		if ((list[i].standards & tde_required) && list[i].applies(spec))
			return &list[i];
	return NULL;
}

const TdeExclusion *
tde_required_excludes(TdeSpec spec)
{
	return find(exclusions, lengthof(exclusions), spec);
}

/* Remembers the last answer: most values have the specification of the one before. */
const TdeExclusion *
tde_required_excludes_here(TdeSpec spec)
{
	static int	last_required = 0;
	static TdeSpec last_spec;
	static const TdeExclusion *last = NULL;

	if (last_required == tde_required && tde_spec_equal(last_spec, spec))
		return last;
	last = find(&unvalidated, 1, spec);
	if (last == NULL)
		last = tde_required_excludes(spec);
	last_required = tde_required;
	last_spec = spec;
	return last;
}

/* Returns the first standard among them that is required. */
static const char *
standard_word(int bits)
{
	for (size_t i = 0; i < lengthof(standards); i++)
		if (standards[i].bit & bits & tde_required)
			return standards[i].word;
	return "";
}

char *
tde_required_text(const TdeExclusion *exclusion)
{
	return psprintf("%s excludes %s", standard_word(exclusion->standards), exclusion->what);
}

void
tde_required_refuse(const TdeExclusion *exclusion)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("tde_column.require = %s excludes %s", standard_word(exclusion->standards), exclusion->what),
			 errdetail_internal("%s", exclusion->why),
			 errhint("%s", exclusion->hint)));
}

/* ---- what is in the way of this server ---- */

/* An obstacle, and when it is one. */
typedef struct ServerRule
{
	int			standards;
	bool		(*applies) (void);
	TdeObstacle obstacle;		/* its standard is filled in when it is found */
} ServerRule;

static bool
has_no_module(void)
{
	return !tde_crypto_fips();
}

static bool
default_is_excluded(void)
{
	return tde_required_excludes(tde_default_modifiers.spec) != NULL;
}

static bool
has_no_cryptoperiod(void)
{
	return tde_rotate_after == 0;
}

static bool
always(void)
{
	return true;
}

static const ServerRule server_rules[] = {
	{TDE_REQUIRE_FIPS, has_no_module, {NULL, "error", "OpenSSL is not restricted to its FIPS provider: nothing can be encrypted",
	"Start the server with an OpenSSL configuration that has default_properties = fips=yes."}},
	{TDE_REQUIRE_PCI | TDE_REQUIRE_CNSA2, default_is_excluded, {NULL, "error", "tde_column.default_spec is excluded: columns that declare nothing are refused",
	"Set it to aes256,salt,gcm."}},
	{TDE_REQUIRE_PCI, has_no_cryptoperiod, {NULL, "warning", "no cryptoperiod is set, which requirement 3.7.4 asks for",
	"Set tde_column.rotate_after, for example to 365d."}},
	{TDE_REQUIRE_CNSA2, always, {NULL, "notice", "keys are derived by HKDF and PBKDF2 with SHA-256, and literals and what passes through sorts have HMAC-SHA-256",
	"This cannot be changed; see docs/compliance.md."}},
};

List *
tde_required_obstacles(void)
{
	List	   *found = NIL;

	for (size_t i = 0; i < lengthof(server_rules); i++)
	{
		const ServerRule *rule = &server_rules[i];
		TdeObstacle *obstacle;

		if (!(rule->standards & tde_required) || !rule->applies())
			continue;
		obstacle = palloc(sizeof(TdeObstacle));
		*obstacle = rule->obstacle;
		obstacle->standard = standard_word(rule->standards);
		found = lappend(found, obstacle);
	}
	return found;
}

void
tde_required_report(int elevel)
{
	ListCell   *cell;

	foreach(cell, tde_required_obstacles())
	{
		TdeObstacle *obstacle = lfirst(cell);

		ereport(elevel,
				(errmsg("tde_column.require = %s: %s", obstacle->standard, obstacle->finding),
				 errhint("%s", obstacle->hint)));
	}
}

bool
tde_required_parse(List *words, int *required)
{
	ListCell   *cell;

	*required = 0;
	foreach(cell, words)
	{
		size_t		i = 0;

		while (i < lengthof(standards) && pg_strcasecmp(lfirst(cell), standards[i].word) != 0)
			i++;
		if (i == lengthof(standards))
			return false;
		*required |= standards[i].bit;
	}
	return true;
}
