/*
 * typmod.h - the type modifier: specification, key slot and the base type's own modifiers in one int4.
 *
 * It is stored in pg_attribute, so this layout is for ever (what has no bits in it, such as a column without order, has a row of tde.specifications):
 *
 *	bits 28-30 cipher; code 7: bits 0-23 number a row of tde.specifications, which says all, and the others are the same
 *	bit  27    mode
 *	bit  26    salt
 *	bits 24-25 MAC
 *	bits 0-23  base modifiers (high part) and key slot (low part), divided as the base type needs; of padded values 12 + 12: the multiple
 *			   that they are padded to - 1, and key slot
 */
#ifndef TDE_KEYS_TYPMOD_H
#define TDE_KEYS_TYPMOD_H

#include "nodes/pg_list.h"

#include "crypto/spec.h"
#include "server/compat.h"

/* How the low 24 bits are divided. */
typedef enum TdeModLayout
{
	TDE_MOD_NONE,				/* 0 + 24: the base type has no modifiers */
	TDE_MOD_NUMERIC,			/* 6 + 6 + 12: precision + 1, scale */
	TDE_MOD_LENGTH,				/* 12 + 12: length + 1 (varchar, bpchar) */
	TDE_MOD_PRECISION,			/* 4 + 20: fractional seconds + 1 */
	TDE_MOD_OTHER,				/* 12 + 12: the base type's typmod + 1 */
	TDE_MOD_LARGE				/* 12 + 12: those of interval never fit, so it is always 0 */
} TdeModLayout;

typedef struct TdeModifiers
{
	TdeSpec		spec;
	int32		slot;			/* key slot; 0 is the database's default key */
	int32		base_typmod;	/* -1: none */
	bool		unordered;		/* indexes of the column tell no order of its values; nothing to values themselves */
	uint16		pad;			/* values are padded to a multiple of so many bytes, or TDE_PAD_MAX; 0: they are not; see tde_typmod_set_pad() */
} TdeModifiers;

#define TDE_PAD_MAX		1		/* all alike: to what the longest value takes that the base type's modifiers allow */
#define TDE_PAD_LARGEST	4096

/* The one way to set the pad, as far as the specification allows any; its mode says whether there is one. */
extern void tde_typmod_set_pad(TdeModifiers *mods, int pad);

/* tde_column.default_spec as it is shipped, parsed and as words; what the setting leaves open is as in these. */
#define TDE_SHIPPED_MODIFIERS	{{TDE_AES256, TDE_CTR, TDE_GCM, true}, 0, -1, false, 0}
#define TDE_SHIPPED_WORDS	"aes256,salt,gcm"

/* tde_column.default_spec, parsed, without key and modifiers of a base type; set by the GUC's assign hook. */
extern TdeModifiers tde_default_modifiers;

/*
 * Parse modifier words ("aes128", "nosalt", "key=7", ...).  Parts that they leave open come from *defaults; mode, order and padding only if
 * no word speaks of the specification at all, so that what tde_typmod_words() prints means the same everywhere.  NULL if they
 * are good, otherwise a palloc'd sentence that says what is wrong.  The base type's modifiers are *defaults'.
 */
extern char *tde_typmod_words_parse(List *words, const TdeModifiers *defaults, bool names_key, TdeModifiers *mods);

/* Is it one of those, whatever may stand beside it? */
extern bool tde_typmod_words_know(const char *word);

/* Pack them into *typmod; false if a part does not fit into its bits. */
extern bool tde_typmod_pack(TdeModLayout layout, const TdeModifiers *mods, int32 *typmod);

/* Can a base type of this layout have this modifier?  -1: none. */
extern bool tde_typmod_base_valid(TdeModLayout layout, int32 base_typmod);

/* ereport on a typmod that tde_typmod_pack() cannot have made. */
extern TdeModifiers tde_typmod_unpack(TdeModLayout layout, int32 typmod);

/* Bits 24-30 of a typmod. */
extern int32 tde_typmod_spec_bits(TdeSpec spec);
extern TdeSpec tde_typmod_spec(int32 bits);

/* How tde.specifications holds all but key and base modifiers: these bits, above them one of columns without order, and the pad - 1. */
extern int32 tde_typmod_row_bits(const TdeModifiers *mods);
extern void tde_typmod_read_row_bits(int32 bits, TdeModifiers *mods);

/* The typmod that names a row of tde.specifications, and the number that one names; 0 if it names none. */
#define TDE_TYPMOD_LAST_NUMBER	0xffffff
extern int32 tde_typmod_of_number(TdeSpec spec, int32 number);
extern int32 tde_typmod_number(int32 typmod);

pg_noreturn extern void tde_typmod_invalid(int32 typmod);

/* Can it hold base modifiers or a key slot other than 0?  A quick no for most. */
static inline bool
tde_typmod_has_low_bits(int32 typmod)
{
	return typmod >= 0 && (typmod & 0xffffff) != 0;
}

/* The typmod of the default specification, for values: what it says of order and padding is for columns (ddl/declared_type.h). */
extern PGDLLEXPORT int32 tde_typmod_default(void);

/* The same without salt, with the one mode and the MAC that are possible then. */
extern TdeSpec tde_typmod_unsalted(TdeSpec spec);

/* "aes128,nosalt,mac": what tde_typmod_words_parse() reads again whatever the default is then, but for the key; palloc'd. */
extern char *tde_typmod_words(const TdeModifiers *mods);

#endif							/* TDE_KEYS_TYPMOD_H */
