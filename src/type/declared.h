/*
 * declared.h - whether a value is as its column declares: with a MAC, and under the column's key.
 *
 * A value carries the number of its key, so that it can be read wherever it is; and whoever can write files can put it where it does
 * not belong.  So what the expression tells of the column is compared with what the value is.  That takes one comparison of numbers: what
 * a column declares is made a number once for each place of an expression, and so is what a value fits, once for each key.
 */
#ifndef TDE_TYPE_DECLARED_H
#define TDE_TYPE_DECLARED_H

#include "type/type.h"

/* tde_column.key_wall: what becomes of a value under another key than its column's. */
typedef enum TdeKeyWall
{
	TDE_WALL_WARN,
	TDE_WALL_ERROR
} TdeKeyWall;

extern int	tde_key_wall;

/* Returns a key's slot, and whether there is a MAC, as one number; below zero for the slots that no column declares. */
static inline int32
tde_declaration(int32 slot, TdeSpec spec)
{
	return slot * 2 + (spec.mac != TDE_NOMAC ? 1 : 0);
}

/* Returns what a typmod declares, as such a number; -1: nothing. */
static inline int32
tde_declared(TdeType *type, int32 typmod)
{
	TdeModifiers mods;

	if (typmod < 0)
		return -1;
	mods = tde_type_modifiers(type, typmod);
	return tde_declaration(mods.slot, mods.spec);
}

/*
 * Returns true if a value may stand where this is declared.  One that has a MAC may stand where none is declared: the last bit is compared only if
 * the value has none.
 */
static inline bool
tde_fits(int32 value, int32 declared)
{
	return declared < 0 || ((value ^ declared) & ~(value & 1)) == 0;
}

/*
 * Called for a value that does not fit.  Throws ERRCODE_TDE_NOT_AUTHENTIC for one without the MAC that is declared, ERRCODE_TDE_OTHER_KEY for one
 * under another key.  Returns after a warning, where key_wall wants no more: the value may be read then.  tells: errors may give the reason;
 * otherwise as tde_access_throw_alike() does.  Looks up names, so a pointer to a key is lost.
 */
extern void tde_declared_refuse(TdeType *type, int32 value, int32 declared, bool tells);

#endif							/* TDE_TYPE_DECLARED_H */
