/*
 * masks.h - how much a role sees of a column that may not decrypt, by the masks in the column's security label: the module "masks".
 *
 * They are decided when a value is shown, for whoever is the current user then.  A plan says which column a value comes from, and nothing
 * of masks and roles.
 *
 * The core knows which column a value comes from; the module decides and forms masks.  The planner hook calls tde_masks_columns(), which has the
 * module put calls of tde_of_column() around arguments and returns items for columns of the result.  At execution tde_masks_argument() reads the
 * former (type/call.c) and tde_masks_result() the latter (client/).
 */
#ifndef TDE_TYPE_MASKS_H
#define TDE_TYPE_MASKS_H

#include "nodes/parsenodes.h"

#include "type/type.h"

/* The provider of security labels whose labels of columns are masks. */
#define TDE_LABEL_PROVIDER	"tde_column"

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

/* A mask of a column, as the module has parsed it.  It belongs to the module. */
typedef struct TdeMask
{
	TdeMaskKind kind;
	int			first;			/* of parts */
	int			last;
	char	   *text;			/* the padding, the width or the constant; or NULL */
	List	   *roles;			/* names; NIL: everybody else */
} TdeMask;

/* What the core calls in the module; it registers these as its calls (server/module.h). */
typedef struct TdeMasksCalls
{
	/*
	 * Before a query is planned, while somebody may not decrypt: its calls are told which column with masks an argument is, and what is stored in
	 * such a column is checked.  Returns the same of the columns of its result, for tde_masks_result(); the list belongs among the plan's
	 * invalItems if the receiver decrypts them.
	 */
	List	   *(*columns) (Query *query);

	/*
	 * That of the current user: of those of its roles the one that tells most, or else that of everybody else; NULL: none.  Good until the next
	 * call.
	 */
	const TdeMask *(*of_column) (TdeColumn column);

	/* Returns true if the type has such parts.  A column may have got another type since. */
	bool		(*has_form) (const TdeMask *mask, Oid base);

	/* What the mask shows of a value of the base type; not of TDE_MASK_CLEAR. */
	Datum		(*form) (const TdeMask *mask, TdeType *type, Datum plain, int32 base_typmod, bool *isnull);

	/* Roles and their memberships have changed. */
	void		(*forget) (void);
} TdeMasksCalls;

/* NULL: the module is not loaded. */
extern const TdeMasksCalls *tde_masks;

/* Before the first use of tde_masks in a session: loads the module, unless it was looked for. */
extern void tde_masks_load(void);

/* Returns the current user's mask of a column; NULL: it has none, no column is known, or there is no module.  Good until the next call. */
static inline const TdeMask *
tde_masks_of_column(TdeColumn column)
{
	if (!OidIsValid(column.table))
		return NULL;
	tde_masks_load();
	return tde_masks ? tde_masks->of_column(column) : NULL;
}

/*
 * Calls the module's columns().  Throws ERRCODE_FEATURE_NOT_SUPPORTED without the module, if a statement that changes rows could store a value where
 * masks would show it later: only the module checks that.
 */
extern List *tde_masks_columns(Query *query);

/* Returns a call of a function that is given an expression and the column that it is for; it has the expression's type and collation. */
extern PGDLLEXPORT Expr *tde_masks_call_of(Oid function, Expr *expr, TdeColumn column);

/* Returns a call that says of an expression which column it comes from; the expression itself if there is no column. */
extern PGDLLEXPORT Expr *tde_masks_call(Expr *expr, TdeColumn column);

/*
 * Returns what is in such a call, and sets *column to the column that it comes from; the argument itself, and no column, if it is none.  arg may be
 * NULL.
 */
extern Node *tde_masks_argument(Node *arg, TdeColumn *column);

/*
 * The column with masks that a column of the result is, by its index from 0 on.  tde_masks_item() returns it as a node for a plan's invalItems,
 * which are copied with the plan.  tde_masks_result() looks for it there; TDE_NO_COLUMN: it has none.
 */
extern PGDLLEXPORT Node *tde_masks_item(int index, TdeColumn column);
extern TdeColumn tde_masks_result(List *items, int index);

/* Numbers of these items: below zero, where no syscache has one.  See tde_is_postponed() for the others. */
#define TDE_MASKED_ITEM	(-(1 << 23))

extern void tde_masks_init(void);	/* from _PG_init */

#endif							/* TDE_TYPE_MASKS_H */
