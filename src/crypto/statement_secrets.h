/*
 * statement_secrets.h - overwrites secrets in the text of statements, in place and without changing its length.
 *
 * A secret is what a statement passes to a function that takes a passphrase, a share or the secret of exported keys.  The functions
 * are known by their names, since the text is logged before anything of it is looked up.  Nothing is allocated.
 */
#ifndef TDE_CRYPTO_STATEMENT_SECRETS_H
#define TDE_CRYPTO_STATEMENT_SECRETS_H

#include <stdbool.h>
#include <stdint.h>

/* The text is an entry of the log, which quotes statements between double quotes, maybe in JSON. */
#define TDE_REDACT_ENTRY		1
/* A backslash escapes in plain string literals, too (standard_conforming_strings = off). */
#define TDE_REDACT_BACKSLASH	2

#define TDE_ALL_PARAMETERS		UINT64_MAX

/* What calls of functions that take secrets were met.  To be zeroed by the caller; several texts may be added up. */
typedef struct TdeCalls
{
	bool		any;
	bool		masked;			/* something was overwritten that was not yet */
	bool		elsewhere;		/* an argument is neither a literal nor a parameter: the secret may be anywhere */
	uint64_t	parameters;		/* bit n - 1: $n is an argument; beyond 64: all bits */
} TdeCalls;

/* May the text have such a call?  Fast, for texts of any size. */
extern bool tde_redact_suspects(const char *text);

/*
 * Overwrite the literals among the arguments of each call, also of calls in the string literals of the text: the body of a DO
 * block or function, the argument of EXECUTE or of format().  All literals if an argument comes from elsewhere.
 */
extern void tde_redact_calls(char *text, int flags, TdeCalls *calls);

/* Overwrite all string literals, in code (DO, AS) those in it.  Returns whether that changed anything. */
extern bool tde_redact_literals(char *text, int flags);

/* Overwrite the literals in "$n = '...'", for these n. */
extern void tde_redact_parameters(char *text, int flags, uint64_t parameters);

/*
 * Overwrite the literals among these arguments of EXECUTE name(...), also in the string literals of the text.  Returns whether that
 * changed anything.
 */
extern bool tde_redact_execute(char *text, int flags, uint64_t parameters);

/* Overwrite the parameters in an entry of pgaudit, "AUDIT: SESSION,1,1,READ,SELECT,,,statement,parameters". */
extern void tde_redact_audit(char *text);

#endif							/* TDE_CRYPTO_STATEMENT_SECRETS_H */
