/*
 * cast.h - casts of values in clear.
 */
#ifndef TDE_TYPE_CAST_H
#define TDE_TYPE_CAST_H

#include "type/type.h"

/*
 * Returns a value in clear converted from one type to another, with that one's modifier (or -1), as an explicit cast would; the value itself if
 * nothing is to be done.  *isnull: the cast makes NULL of it, as timestamp -> time does of infinity.  Throws ERRCODE_CANNOT_COERCE if there is no
 * such cast.
 *
 * How, is looked up once for a function (proc), which must always ask for the same types.  Serves what goes past the base type: int4 ->
 * encrypted_numeric is int4 -> numeric and encryption.
 */
extern Datum tde_cast_plain(TdeProc *proc, Datum value, Oid source, Oid target, int32 typmod, bool *isnull);

/* Returns true for the function of a cast from an encrypted type to its base type, or to what that can be cast to. */
extern bool tde_cast_is_decryption(Oid function);

/* Returns true for the function of a cast from a plain type, or another encrypted one, to an encrypted type. */
extern PGDLLEXPORT bool tde_cast_is_encryption(Oid function);

#endif							/* TDE_TYPE_CAST_H */
