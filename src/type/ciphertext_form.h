/*
 * ciphertext_form.h - encrypted values that leave and enter a database as they are, without being decrypted: the ciphertext form.
 *
 * tde_out(), tde_in() and their binary sisters ask tde_ciphertext_wanted() at each call (type/cast.c).  pg_upgrade's restore (IsBinaryUpgrade) has
 * the form without the setting.
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

/* The setting tde_column.io_format: a TdeIoFormat. */
extern int	tde_io_format;

/*
 * Throws ERRCODE_INSUFFICIENT_PRIVILEGE unless the current user, and whoever called a function that has made another one current, may use the form.
 * Asks once in a statement for the same two.
 */
extern void tde_ciphertext_check_permission(void);

/* Has it checked anew, since rights have changed.  Called by invalidation callbacks (type/access.c). */
extern void tde_ciphertext_forget_permission(void);

/*
 * Returns true if input and output functions deal in the ciphertext form now.  The setting alone decides, never the look of a value; and whoever may
 * not use it gets an error, never plaintext.
 */
static inline bool
tde_ciphertext_wanted(void)
{
	if (likely(tde_io_format == TDE_IO_PLAINTEXT && !IsBinaryUpgrade))
		return false;
	tde_ciphertext_check_permission();
	return true;
}

/* Returns false for types whose values hold OIDs, which differ in another database: regclass, enums. */
extern PGDLLEXPORT bool tde_ciphertext_has_form(TdeType *type);

/*
 * Return the form of a value, as text and in binary, palloc'd; the wallet may be closed.  Throws if the type has no form, the value is damaged, or
 * its key is not here; the text also if it would be too large for a datum.
 */
extern char *tde_ciphertext_out(TdeType *type, Datum value);
extern bytea *tde_ciphertext_send(TdeType *type, Datum value);

/* Warns, once in a session, if what is about to be encrypted is the ciphertext form: somebody restores a dump without the setting. */
extern void tde_ciphertext_suspect(const char *text);

/* An error context callback, with the text: adds the hint to the error of a base type that cannot read the ciphertext form. */
extern void tde_ciphertext_explain(void *text);

/*
 * Returns the value, under the same key and in the same bytes, palloc'd.  Throws ERRCODE_TDE_NOT_AUTHENTIC if the form is damaged,
 * ERRCODE_DATATYPE_MISMATCH if it is of another type, ERRCODE_TDE_KEY_NOT_FOUND if its key is not here.  Does not check the MAC: reading the value
 * will.
 */
extern Datum tde_ciphertext_in(TdeType *type, const char *text);
extern Datum tde_ciphertext_recv(TdeType *type, StringInfo message);

#endif							/* TDE_TYPE_CIPHERTEXT_FORM_H */
