/*
 * inflate.h - what zlib has compressed, as Rails stores longer values.
 */
#ifndef TDE_IMPORT_INFLATE_H
#define TDE_IMPORT_INFLATE_H

#include "lib/stringinfo.h"

/*
 * Appends what is compressed, in the format of RFC 1950.  Returns false if it is malformed, cut short, or longer than a value can be; out has a part
 * of it then.
 */
extern bool tde_inflate(const uint8 *data, size_t size, StringInfo out);

#endif							/* TDE_IMPORT_INFLATE_H */
