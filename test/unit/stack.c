/*
 * stack.c - setting up a value's keys leaves none of them on the stack.
 */
#include <pthread.h>

#include "specs.h"
#include "tap.h"
#include "crypto/primitives.h"
#include "crypto/value.h"

#define STACK_SIZE	(1024 * 1024)

static uint8_t data_key[TDE_DATA_KEY_SIZE];
static uint8_t type_tag[TDE_TYPE_TAG_SIZE];
static TdeSpec spec;
static bool leaves_a_copy;
static bool made;
static TdeValueKey *key;

/* As tde_value_key_new() derives it. */
static void
derive(const char *purpose, uint8_t *out, size_t size)
{
	uint8_t		info[64];
	size_t		length = (size_t) snprintf((char *) info, sizeof(info), "tde_column/1%s", purpose);

	info[length++] = tde_spec_byte(spec, false) & 0x3f;
	memcpy(info + length, type_tag, sizeof(type_tag));
	must(tde_crypto_hkdf(data_key, sizeof(data_key), info, length + sizeof(type_tag), out, size) == TDE_OK, "cannot derive a key");
}

/* Not where the address sanitizer keeps variables instead. */
static __attribute__((noinline, no_sanitize("address"))) void
leave_copy(const uint8_t *secret)
{
	volatile uint8_t copy[32];

	for (size_t i = 0; i < sizeof(copy); i++)
		copy[i] = secret[i];
}

/* Deep on the stack, where the thread's end writes nothing any more. */
static void *
set_up(void *secret)
{
	volatile uint8_t room[64 * 1024];

	room[0] = 0;
	made = tde_value_key_new(&key, data_key, spec, type_tag) == TDE_OK;
	if (leaves_a_copy)
		leave_copy(secret);
	return room[0] == 0 ? NULL : secret;
}

/* Is the secret on the stack of a thread that has set up the keys? */
static bool
is_left(const uint8_t *secret, size_t size)
{
	uint8_t    *stack = calloc(1, STACK_SIZE);
	pthread_attr_t attributes;
	pthread_t	thread;
	bool		found = false;

	must(stack != NULL && pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, STACK_SIZE) == 0 &&
		 pthread_create(&thread, &attributes, set_up, (void *) (uintptr_t) secret) == 0 && pthread_join(thread, NULL) == 0, "cannot run a thread");
	pthread_attr_destroy(&attributes);
	tde_value_key_free(key);
	must(made, "cannot make a value's keys");
	for (size_t i = 0; i + size <= STACK_SIZE && !found; i++)
		found = memcmp(stack + i, secret, size) == 0;
	free(stack);
	return found;
}

int
main(void)
{
	TdeSpec		specs[MAX_SPECS];
	uint8_t		secret[32];

	random_fill(data_key, sizeof(data_key));
	random_fill(type_tag, sizeof(type_tag));
	for (int i = all_specs(specs) - 1; i >= 0; i--)
	{
		spec = specs[i];
		derive("enc", secret, tde_spec_key(spec));
		leaves_a_copy = false;
		ok(!is_left(secret, tde_spec_key(spec)), "%s: no cipher key", spec_name(spec));
		ok(!is_left(data_key, sizeof(data_key)), "%s: no data key", spec_name(spec));
		if (spec.mac == TDE_SHA1 || spec.mac == TDE_SHA256)
		{
			derive(spec.salted ? "mac" : "siv", secret, sizeof(secret));
			ok(!is_left(secret, sizeof(secret)), "%s: no MAC key", spec_name(spec));
		}
	}
	leaves_a_copy = true;
	random_fill(secret, sizeof(secret));
	ok(is_left(secret, sizeof(secret)), "a copy would be found");
	return tap_done();
}
