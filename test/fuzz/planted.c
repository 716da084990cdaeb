/*
 * planted.c - a harness with a bug: that it is found shows that the others would find theirs.
 */
#include "check.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t    *copy = copy_of(data, size);

	if (size == 3 && copy[0] == 't')
		CHECK(memchr(copy, 'd', size + 1) != copy);
	free(copy);
	return 0;
}
