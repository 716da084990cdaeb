/*
 * spec.c - coding of specifications and the sizes that follow from them.
 */
#include "crypto/spec.h"

#define SPEC_MODE_BIT	0x04
#define SPEC_MAC_SHIFT	4

/* Is the number of one bits odd? */
static bool
odd_parity(uint8_t byte)
{
	return __builtin_parity(byte) == 1;
}

uint8_t
tde_spec_byte(TdeSpec spec, bool flag)
{
	uint8_t		byte = (uint8_t) (spec.cipher - TDE_AES128);

	if (spec.mode == TDE_CBC)
		byte |= SPEC_MODE_BIT;
	if (spec.salted)
		byte |= TDE_SPEC_SALT;
	byte |= (uint8_t) (spec.mac << SPEC_MAC_SHIFT);
	if (flag)
		byte |= TDE_SPEC_FLAG;
	if (!odd_parity(byte))
		byte |= TDE_SPEC_PARITY;
	return byte;
}

/*
 * Read a spec byte that nothing vouches for yet.  False if no writer of this version can have written it.
 */
bool
tde_spec_from_byte(uint8_t byte, TdeSpec *spec, bool *flag)
{
	if (!odd_parity(byte))
		return false;
	spec->cipher = (uint8_t) ((byte & 0x03) + TDE_AES128);
	spec->mode = (byte & SPEC_MODE_BIT) ? TDE_CBC : TDE_CTR;
	spec->salted = (byte & TDE_SPEC_SALT) != 0;
	spec->mac = (byte >> SPEC_MAC_SHIFT) & 0x03;
	*flag = (byte & TDE_SPEC_FLAG) != 0;
	if (*flag && !spec->salted && spec->mode == TDE_CTR)
		return false;
	return tde_spec_refused(*spec) == NULL;
}

const char *
tde_spec_refused(TdeSpec spec)
{
	if (spec.cipher < TDE_AES128 || spec.cipher > TDE_3DES168)
		return "This cipher is not known to this version";
	if (spec.mac > TDE_GCM)
		return "This MAC is not known to this version";
	if (spec.cipher == TDE_3DES168 && spec.mac == TDE_GCM)
		return "GCM is defined for AES only";
	if (spec.mode == TDE_CBC && spec.mac == TDE_GCM)
		return "GCM is a mode of its own, which cbc contradicts";
	if (spec.cipher == TDE_3DES168 && spec.mode != TDE_CBC)
		return "Triple DES is available in cbc mode only";
	if (spec.mode == TDE_CTR && !spec.salted && spec.mac == TDE_NOMAC)
		return "In ctr mode without salt and without MAC every value would be encrypted with the same key stream";
	return NULL;
}

bool
tde_spec_equal(TdeSpec a, TdeSpec b)
{
	return tde_spec_byte(a, false) == tde_spec_byte(b, false);
}

size_t
tde_spec_key(TdeSpec spec)
{
	static const uint8_t bytes[] = {0, 16, 24, 32, 24};

	return bytes[spec.cipher];
}

const char *
tde_cipher_word(TdeSpec spec)
{
	static const char *const words[] = {"", "aes128", "aes192", "aes256", "3des168"};

	return words[spec.cipher];
}

const char *
tde_mode_word(TdeSpec spec)
{
	return spec.mode == TDE_CBC ? "cbc" : "ctr";
}

const char *
tde_salt_word(TdeSpec spec)
{
	return spec.salted ? "salt" : "nosalt";
}

const char *
tde_mac_word(TdeSpec spec)
{
	static const char *const words[] = {"nomac", "mac", "sha256", "gcm"};

	return words[spec.mac];
}
