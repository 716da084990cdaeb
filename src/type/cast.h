/*
 * cast.h - casts of values in clear.
 */
#ifndef TDE_TYPE_CAST_H
#define TDE_TYPE_CAST_H

#include "type/type.h"

/*
 * Convert a value in clear from one type to another, with that one's modifier (or -1), as an explicit cast would; ereport if there
 * is none.  How, is looked up once for a function, which must always ask for the same types.  The value itself if nothing is to be
 * done.  Serves what goes past the base type: int4 -> encrypted_numeric is int4 -> numeric and encryption.  *isnull: the cast makes
 * NULL of it, as timestamp -> time does of infinity.
 */
extern Datum tde_cast_plain(TdeProc *proc, Datum value, Oid source, Oid target, int32 typmod, bool *isnull);

/* Is it the function of a cast from an encrypted type to its base type, or to what that can be cast to? */
extern bool tde_cast_is_decryption(Oid function);

/* ... of a cast from a plain type, or another encrypted one, to an encrypted type? */
extern PGDLLEXPORT bool tde_cast_is_encryption(Oid function);

#endif							/* TDE_TYPE_CAST_H */
