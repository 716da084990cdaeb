/*
 * mask_label.h - the masks of a column as they are written: its security label.
 *
 *	clear TO hr, payroll; first 6, last 4, padded by '*' TO support; null
 *
 * PostgreSQL keeps security labels with their columns: it drops them, renames them and dumps them.  Roles stand there by name, as in
 * tde_column.decrypt_role.
 */
#ifndef TDE_MASKS_MASK_LABEL_H
#define TDE_MASKS_MASK_LABEL_H

#include "type/masks.h"

/*
 * Parses a label, and prints masks as one.  Throws ERRCODE_INVALID_PARAMETER_VALUE on what are no masks.  Both are palloc'd; the label is NULL if
 * there are none.
 */
extern List *tde_mask_parse(const char *label);
extern char *tde_mask_print(List *masks);

/* Returns the mask that names a role, or that of everybody else if that is NULL; NULL: there is none. */
extern TdeMask *tde_mask_of_role(List *masks, const char *role);

#endif							/* TDE_MASKS_MASK_LABEL_H */
