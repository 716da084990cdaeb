/*
 * specs.h - every specification that a value can have, for tests that go through all of them.
 */
#ifndef SPECS_H
#define SPECS_H

#include "tap.h"
#include "crypto/value.h"

#define MAX_SPECS	64

/* Fill specs with all that are not refused; returns how many. */
__attribute__((unused)) static int
all_specs(TdeSpec specs[MAX_SPECS])
{
	int			count = 0;

	for (int cipher = TDE_AES128; cipher <= TDE_3DES168; cipher++)
		for (int mode = TDE_CTR; mode <= TDE_PADDED; mode++)
			for (int salted = 0; salted <= 1; salted++)
				for (int mac = TDE_NOMAC; mac <= TDE_GCM; mac++)
				{
					TdeSpec		spec = {(uint8_t) cipher, (uint8_t) mode, (uint8_t) mac, salted == 1};

					if (tde_spec_refused(spec) == NULL)
						specs[count++] = spec;
				}
	must(count == 51, "the number of specifications is not what it was");
	return count;
}

/* "aes256,ctr,salt,sha256"; valid until the next call. */
__attribute__((unused)) static const char *
spec_name(TdeSpec spec)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s,%s,%s,%s%s", tde_spec_cipher_word(spec), tde_spec_mode_word(spec), tde_spec_salt_word(spec),
			 tde_spec_mac_word(spec), spec.mode == TDE_PADDED ? ",padded" : "");
	return name;
}

/* Bytes that a plaintext has when it is encrypted: of a padded one a multiple, here of a number that is no cipher's. */
__attribute__((unused)) static size_t
padded_size(TdeSpec spec, size_t size)
{
	return spec.mode == TDE_PADDED ? (size / 21 + 1) * 21 : size;
}

__attribute__((unused)) static TdeStatus
seal_any(TdeValueKey *key, TdeSpec spec, uint32_t id, bool compressed, const uint8_t *plain, size_t size, uint8_t *out)
{
	return spec.mode == TDE_PADDED ? tde_value_seal_padded(key, id, compressed, plain, size, padded_size(spec, size), out)
		: tde_value_seal(key, id, compressed, plain, size, out);
}

#endif							/* SPECS_H */
