/*
 * ciphertext_form.h - encrypted values that leave and enter a database as they are, without being decrypted: the ciphertext form.
 */
#ifndef TDE_TYPE_CIPHERTEXT_FORM_H
#define TDE_TYPE_CIPHERTEXT_FORM_H

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "type/type.h"

typedef enum TdeIoFormat
{
	TDE_IO_PLAINTEXT,
	TDE_IO_CIPHERTEXT
} TdeIoFormat;

/* GUC */
extern int	tde_io_format;

/* ereport unless the current user, and whoever called a function that has made another one current, may use the form. */
extern void tde_ciphertext_check_permission(void);

/* Check it anew, since rights have changed. */
extern void tde_ciphertext_forget_permission(void);

/*
 * Do input and output functions deal in the ciphertext form now?  The setting alone decides, never the look of a value; and
 * whoever may not use it gets an error, never plaintext.
 */
static inline bool
tde_ciphertext_wanted(void)
{
	if (likely(tde_io_format == TDE_IO_PLAINTEXT && !IsBinaryUpgrade))
		return false;
	tde_ciphertext_check_permission();
	return true;
}

/* False for types whose values hold OIDs, which differ in another database. */
extern PGDLLEXPORT bool tde_ciphertext_has_form(TdeType *type);

extern char *tde_ciphertext_out(TdeType *type, Datum value);
extern bytea *tde_ciphertext_send(TdeType *type, Datum value);

/* Tell once if what is about to be encrypted is the ciphertext form: somebody restores a dump without the setting. */
extern void tde_ciphertext_suspect(const char *text);

/* An error context callback, with the text: it adds the hint to the error of a base type that cannot read the ciphertext form. */
extern void tde_ciphertext_explain(void *text);

/* The value, under the same key and in the same bytes; ereport if it is damaged, of another type, or its key is not here. */
extern Datum tde_ciphertext_in(TdeType *type, const char *text);
extern Datum tde_ciphertext_recv(TdeType *type, StringInfo message);

#endif							/* TDE_TYPE_CIPHERTEXT_FORM_H */
