/*
 * unauthenticated.h - are decrypted bytes that no MAC vouches for safe to give to the base type's functions?
 *
 * A nomac value may decrypt to anything.  That may be a wrong value; it must not be one that crashes the backend.
 */
#ifndef TDE_TYPE_UNAUTHENTICATED_H
#define TDE_TYPE_UNAUTHENTICATED_H

typedef struct TdeVerifier TdeVerifier;

/* NULL for a base type whose bytes cannot be checked completely, so that nomac must not be allowed for it. */
extern const TdeVerifier *tde_verifier_of(Oid base);

/* ereport if these bytes (little-endian if of fixed length) cannot be a value of the base type; always, if verifier is NULL. */
extern void tde_verify_payload(const TdeVerifier *verifier, const uint8 *bytes, size_t size);

/*
 * The same for the beginning of a value of a string type, cut off after size bytes (ends: not cut off).  Returns how many of
 * them are whole characters.
 */
extern size_t tde_verify_slice(Oid base, const uint8 *bytes, size_t size, bool ends);

#endif							/* TDE_TYPE_UNAUTHENTICATED_H */
