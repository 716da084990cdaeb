/*
 * modifiers.h - what a type modifier stands for, whether it holds that itself or names a row of tde.specifications.
 */
#ifndef TDE_KEYS_MODIFIERS_H
#define TDE_KEYS_MODIFIERS_H

#include "nodes/pg_list.h"

#include "crypto/spec.h"

/* Of a base type: how the low 24 bits of a typmod are divided (keys/typmod.h). */
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
	uint16		pad;			/* values are padded to a multiple of so many bytes, or TDE_PAD_MAX; 0: they are not; see tde_modifiers_set_pad() */
} TdeModifiers;

#define TDE_PAD_MAX		1		/* all alike: to what the longest value takes that the base type's modifiers allow */
#define TDE_PAD_LARGEST	4096

/* The one way to set the pad, as far as the specification allows any; its mode says whether there is one. */
extern void tde_modifiers_set_pad(TdeModifiers *mods, int pad);

/* A specification without salt, with the one mode and the MAC that are possible then. */
extern TdeSpec tde_modifiers_unsalted(TdeSpec spec);

/* tde_column.default_spec as it is shipped, parsed and as words; what the setting leaves open is as in these. */
#define TDE_SHIPPED_MODIFIERS	{{TDE_AES256, TDE_CTR, TDE_GCM, true}, 0, -1, false, 0}
#define TDE_SHIPPED_WORDS	"aes256,salt,gcm"

/* tde_column.default_spec, parsed, without key and modifiers of a base type; set by the GUC's assign hook. */
extern TdeModifiers tde_default_modifiers;

/* ---- as words ---- */

/*
 * Parse modifier words ("aes128", "nosalt", "key=7", ...).  Parts that they leave open come from *defaults; mode, order and padding only if
 * no word speaks of the specification at all, so that what tde_modifiers_words() prints means the same everywhere.  NULL if they
 * are good, otherwise a palloc'd sentence that says what is wrong.  The base type's modifiers are *defaults'.
 */
extern char *tde_modifiers_parse(List *words, const TdeModifiers *defaults, bool names_key, TdeModifiers *mods);

/* Is it one of those, whatever may stand beside it? */
extern bool tde_modifiers_know_word(const char *word);

/* "aes128,nosalt,mac": what tde_modifiers_parse() reads again whatever the default is then, but for the key; palloc'd. */
extern char *tde_modifiers_words(const TdeModifiers *mods);

/* ---- as a typmod ---- */

extern void tde_modifiers_init(void);	/* from _PG_init */

/*
 * The typmod of these modifiers.  Those that do not fit into it are given a row in tde.specifications if they have none, which no
 * rollback takes away; ereport where none can be written (standby, read-only transaction, parallel worker).
 */
extern int32 tde_modifiers_pack(TdeModLayout layout, const TdeModifiers *mods);

/* The same; -1 if they would need a row that is not there. */
extern int32 tde_modifiers_pack_known(TdeModLayout layout, const TdeModifiers *mods);

/* ereport on a typmod that no version of typmod_in can have made. */
extern PGDLLEXPORT TdeModifiers tde_modifiers_unpack(TdeModLayout layout, int32 typmod);

/*
 * The typmod of these modifiers by their row's number, which this process remembers.  For pg_upgrade as well, where the table's rows come
 * after the declarations.
 */
extern int32 tde_modifiers_offer(int32 number, const TdeModifiers *mods);

#endif							/* TDE_KEYS_MODIFIERS_H */
