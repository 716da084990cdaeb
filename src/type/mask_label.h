/*
 * mask_label.h - the masks of a column as they are written: its security label.
 *
 *	clear TO hr, payroll; first 6, last 4, padded by '*' TO support; null
 *
 * PostgreSQL keeps security labels with their columns: it drops them, renames them and dumps them.  Roles stand there by name, as in
 * tde_column.decrypt_role.
 */
#ifndef TDE_TYPE_MASK_LABEL_H
#define TDE_TYPE_MASK_LABEL_H

#include "nodes/pg_list.h"

/* The one that tells most comes first. */
typedef enum TdeMaskKind
{
	TDE_MASK_CLEAR,				/* no mask: the value */
	TDE_MASK_PARTS,				/* the first and last characters of a string */
	TDE_MASK_DOMAIN,			/* of an address for electronic mail */
	TDE_MASK_YEAR,				/* of a date */
	TDE_MASK_RANGE,				/* the multiple of a width below a number */
	TDE_MASK_HASH,				/* the same for the same value */
	TDE_MASK_CONSTANT,
	TDE_MASK_NULL
} TdeMaskKind;

typedef struct TdeMask
{
	TdeMaskKind kind;
	int			first;			/* of parts */
	int			last;
	char	   *text;			/* the padding, the width or the constant; or NULL */
	List	   *roles;			/* names; NIL: everybody else */
} TdeMask;

/* ereport on what are no masks.  palloc'd; the label is NULL if there are none. */
extern List *tde_mask_parse(const char *label);
extern char *tde_mask_print(List *masks);

/* The mask that names a role, or that of everybody else if that is NULL; or NULL. */
extern TdeMask *tde_mask_of_role(List *masks, const char *role);

#endif							/* TDE_TYPE_MASK_LABEL_H */
