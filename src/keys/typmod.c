/*
 * typmod.c - modifiers as the bits of a typmod, and out of them again.
 *
 * The layout is in typmod.h.  Whatever comes out of a catalog may be forged or damaged, so unpacking checks that packing can have made it.  Base
 * modifiers are stored + 1, which leaves 0 for none.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "datatype/timestamp.h"
#include "utils/numeric.h"

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

/* Returns the bits that the key slot gets under a layout; base modifiers get the rest of 24. */
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

/*
 * Packs the base type's modifier into *bits.  Returns false if it does not fit, such as that of numeric(1000) or varchar(5000): these get a row in
 * tde.specifications.
 */
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

/* Returns true if pack_base() can have made these bits.  A catalog may hold others, forged or damaged. */
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

/* The reverse of pack_base(), in the base type's own terms (numeric.c, varchar.c, timestamp.c). */
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

/* Packs padded modifiers, which have bits for a pad and a key, and nothing else. */
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

/* The reverse.  TDE_PAD_MAX is never packed so: it depends on base modifiers, for which there is no room. */
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

	tde_modifiers_set_pad(&mods, 0);
	return tde_typmod_spec_bits(mods.spec) << MAC_SHIFT;
}
