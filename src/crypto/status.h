/*
 * status.h - what the pure layer returns instead of throwing.
 *
 * The value codec, ciphers and wallet coding know nothing of PostgreSQL, so that they can be tested and timed outside
 * the server.  They report by status; the caller has to look (TDE_MUST_CHECK), and the server side turns a status into
 * an error in one place, server/error.c.
 */
#ifndef TDE_CRYPTO_STATUS_H
#define TDE_CRYPTO_STATUS_H

typedef enum TdeStatus
{
	TDE_OK = 0,
	TDE_E_AUTH,					/* malformed or not authentic; deliberately one code for all of it */
	TDE_E_CRYPTO,				/* OpenSSL reported a failure */
	TDE_E_NOMEM,				/* out of memory */
	TDE_E_UNAVAILABLE,			/* OpenSSL here lacks the algorithm, or its FIPS policy refuses it */
	TDE_E_FORMAT				/* the file is of a kind or version that this library does not know */
} TdeStatus;

#define TDE_MUST_CHECK __attribute__((warn_unused_result))

/* What modules may call, as PostgreSQL's headers define it: it hides from 16 on what is not marked so. */
#ifndef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

#endif							/* TDE_CRYPTO_STATUS_H */
