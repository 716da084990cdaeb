/*
 * modifiers.h - what a type modifier stands for, whether it holds that itself or names a row of tde.specifications.
 *
 * Users' modifiers come as words and are packed into an int4, which pg_attribute stores and every cast carries.  Most fit there (keys/typmod.h).  The
 * others have a row in tde.specifications, and the int4 holds its number.
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

/* What a column's type, or a value, is declared with. */
typedef struct TdeModifiers
{
	TdeSpec		spec;
	int32		slot;			/* key slot; 0 is the database's default key */
	int32		base_typmod;	/* as the base type's own typmod function has it; -1: none */
	bool		unordered;		/* indexes of the column tell no order of its values; nothing to values themselves */
	uint16		pad;			/* values are padded to a multiple of so many bytes, or TDE_PAD_MAX; 0: they are not; see tde_modifiers_set_pad() */
} TdeModifiers;

#define TDE_PAD_MAX		1		/* all alike: to what the longest value takes that the base type's modifiers allow */
#define TDE_PAD_LARGEST	4096

/* The one way to set the pad: 0 where the MAC is not gcm, which alone allows one.  Sets the mode as well, since that says whether there is a pad. */
extern void tde_modifiers_set_pad(TdeModifiers *mods, int pad);

/* Returns the specification without salt, with the one mode and the MAC that are possible then. */
extern TdeSpec tde_modifiers_unsalted(TdeSpec spec);

/* tde_column.default_spec as it is shipped, parsed and as words; what the setting leaves open is as in these. */
#define TDE_SHIPPED_MODIFIERS	{{TDE_AES256, TDE_CTR, TDE_GCM, true}, 0, -1, false, 0}
#define TDE_SHIPPED_WORDS	"aes256,salt,gcm"

/* tde_column.default_spec, parsed, without key and modifiers of a base type; set by the GUC's assign hook. */
extern TdeModifiers tde_default_modifiers;

/* ---- as words ---- */

/*
 * Parses modifier words ("aes128", "nosalt", "key=7", ...), a list of C strings.  Parts that they leave open come from *defaults.  So do mode, order
 * and padding, but only if no word speaks of the specification at all: what tde_modifiers_words() prints has to mean the same everywhere.  The base
 * type's modifiers are *defaults'.  names_key: a key may be among the words.  Returns NULL if they are good, and otherwise a palloc'd sentence that
 * says what is wrong.
 */
extern char *tde_modifiers_parse(List *words, const TdeModifiers *defaults, bool names_key, TdeModifiers *mods);

/* Returns true if it is one of those words, whatever may stand beside it.  So the base type's modifiers end there. */
extern bool tde_modifiers_know_word(const char *word);

/*
 * Returns for example "aes128,nosalt,mac", palloc'd: what tde_modifiers_parse() reads again whatever the default is then.  The key is left out, and
 * so are the base type's modifiers.
 */
extern char *tde_modifiers_words(const TdeModifiers *mods);

/* ---- as a typmod ---- */

extern void tde_modifiers_init(void);	/* from _PG_init */

/*
 * Returns the typmod of these modifiers.  Those that do not fit into it are given a row in tde.specifications if they have none, which no rollback
 * takes away.  Throws ERRCODE_READ_ONLY_SQL_TRANSACTION where none can be written (standby, read-only transaction, parallel worker),
 * ERRCODE_INSUFFICIENT_PRIVILEGE, and ERRCODE_PROGRAM_LIMIT_EXCEEDED when all numbers are taken.
 */
extern int32 tde_modifiers_pack(TdeModLayout layout, const TdeModifiers *mods);

/* Returns the same, and writes nothing: -1 if they would need a row that is not there. */
extern int32 tde_modifiers_pack_known(TdeModLayout layout, const TdeModifiers *mods);

/*
 * Returns what a typmod stands for.  It may read tde.specifications, once for each row.  Throws ERRCODE_INVALID_PARAMETER_VALUE on a typmod that no
 * version of typmod_in can have made, or whose row is gone.
 */
extern PGDLLEXPORT TdeModifiers tde_modifiers_unpack(TdeModLayout layout, int32 typmod);

/*
 * Returns the typmod that names this row of tde.specifications, whose contents this process remembers.  For pg_upgrade as well, where the table's
 * rows come after the declarations.
 */
extern int32 tde_modifiers_offer(int32 number, const TdeModifiers *mods);

#endif							/* TDE_KEYS_MODIFIERS_H */
