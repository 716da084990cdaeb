/*
 * masks.h - how much a role sees of a column that may not decrypt: the masks in the column's security label.
 *
 * They are decided when a value is shown, for whoever is the current user then.  A plan says which column a value comes from, and nothing
 * of masks and roles.
 */
#ifndef TDE_TYPE_MASKS_H
#define TDE_TYPE_MASKS_H

#include "nodes/nodes.h"

#include "type/mask_label.h"
#include "type/type.h"

#define TDE_LABEL_PROVIDER	"tde_column"

/* Has the column masks, whoever sees them? */
extern bool tde_masks_exist(TdeColumn column);

/* That of the current user: of those of its roles the one that tells most, or else that of everybody else; NULL: none.  Good until the next call. */
extern const TdeMask *tde_mask_of_column(TdeColumn column);

/* The function that says of a value which column it comes from; client/mask_columns.c puts its calls into queries. */
extern Oid	tde_masks_function(void);

/* The column that an argument comes from by such a call, and what is in that; the argument itself, and no column, if it is none. */
extern Node *tde_masks_argument(Node *arg, TdeColumn *column);

/* Roles and their memberships have changed. */
extern void tde_masks_forget(void);

extern void tde_masks_init(void);	/* from _PG_init */

#endif							/* TDE_TYPE_MASKS_H */
