/*
 * mask_forms.h - what a mask shows of a value: a value of the same type.
 */
#ifndef TDE_MASKS_MASK_FORMS_H
#define TDE_MASKS_MASK_FORMS_H

#include "masks/mask_label.h"
#include "type/type.h"

/* Throws ERRCODE_INVALID_PARAMETER_VALUE if values of this type, with this typmod of the base type, have no such parts. */
extern void tde_mask_require_form(const TdeMask *mask, TdeType *type, int32 base_typmod);

/* Returns true if the type has such parts.  A column may have got another type since the mask was set. */
extern bool tde_mask_has_form(const TdeMask *mask, Oid base);

/* Returns what the mask shows of a value of the base type; it is not called for TDE_MASK_CLEAR. */
extern Datum tde_mask_form(const TdeMask *mask, TdeType *type, Datum plain, int32 base_typmod, bool *isnull);

#endif							/* TDE_MASKS_MASK_FORMS_H */
