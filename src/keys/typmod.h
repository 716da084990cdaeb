/*
 * typmod.h - the type modifier: specification, key slot and the base type's own modifiers in one int4, if they fit into it.
 *
 * keys/modifiers.h is the way in for whoever has modifiers of any kind; here is what it takes to know of the int4 alone.
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

#include "keys/modifiers.h"
#include "server/compat.h"

/* Packs modifiers into *typmod.  Returns false if a part does not fit into its bits; *typmod is not to be used then. */
extern bool tde_typmod_pack(TdeModLayout layout, const TdeModifiers *mods, int32 *typmod);

/* Returns true if a base type of this layout can have this modifier; -1 is none. */
extern bool tde_typmod_base_valid(TdeModLayout layout, int32 base_typmod);

/* Returns what tde_typmod_pack() was given.  Throws ERRCODE_INVALID_PARAMETER_VALUE on a typmod that it cannot have made. */
extern TdeModifiers tde_typmod_unpack(TdeModLayout layout, int32 typmod);

/* Convert between a specification and bits 24-30 of a typmod, shifted down to 0-6. */
extern int32 tde_typmod_spec_bits(TdeSpec spec);
extern TdeSpec tde_typmod_spec(int32 bits);

/*
 * Convert between modifiers and the column spec of tde.specifications, which has all but key and base modifiers: these bits, above them one of
 * columns without order, and the pad - 1.
 */
extern int32 tde_typmod_row_bits(const TdeModifiers *mods);
extern void tde_typmod_read_row_bits(int32 bits, TdeModifiers *mods);

#define TDE_TYPMOD_LAST_NUMBER	0xffffff

/*
 * Return the typmod that names a row of tde.specifications, and the number that a typmod names; 0 if it names none.  The specification's mode, salt
 * and MAC stand in the typmod as well.
 */
extern int32 tde_typmod_of_number(TdeSpec spec, int32 number);
extern int32 tde_typmod_number(int32 typmod);

/* Throws ERRCODE_INVALID_PARAMETER_VALUE. */
pg_noreturn extern void tde_typmod_invalid(int32 typmod);

/* Returns true if it can hold base modifiers or a key slot other than 0.  It is a quick no for most. */
static inline bool
tde_typmod_has_low_bits(int32 typmod)
{
	return typmod >= 0 && (typmod & 0xffffff) != 0;
}

/* Returns the typmod of the default specification, for values: what it says of order and padding is for columns (ddl/declared_type.h). */
extern PGDLLEXPORT int32 tde_typmod_default(void);

#endif							/* TDE_KEYS_TYPMOD_H */
