/*
 * quotations.h - what a message quotes, and numbers in it, overwritten.
 *
 * Called for entries of the server's log that may quote a value (server/log.c).  Both work in place and allocate nothing, since they run while an
 * error is reported.
 */
#ifndef TDE_CRYPTO_QUOTATIONS_H
#define TDE_CRYPTO_QUOTATIONS_H

/*
 * Overwrite what an error message quotes, but for quotations that are words of keep (may be NULL).  format is the untranslated
 * message before values were put in, or NULL: it tells where a quotation ends if the value has quotes itself.
 */
extern void tde_quotations_redact(char *message, const char *format, const char *keep);

/*
 * The same of numbers that stand outside of quotations and are no part of a name or of a type's modifiers: varying(30).  Numbers of format and keep
 * stay.
 */
extern void tde_quotations_redact_numbers(char *message, const char *format, const char *keep);

#endif							/* TDE_CRYPTO_QUOTATIONS_H */
