/*
 * column_masks.c - how much a role sees of a column that may not decrypt: the masks in the column's security label.
 *
 * Labels are read once for each column, and again after any relation has changed: setting a mask is a change of its table.  Roles are looked up by
 * name when another user asks than the last one, or when roles have changed (tde_column_masks_forget()).
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "masks/column_masks.h"
#include "masks/mask_label.h"
#include "server/memory.h"
#include "server/rights.h"

/* ---- what is remembered of a column ---- */

/* A column's masks, none included, and the answer for the user who asked last. */
typedef struct MaskedColumn
{
	TdeColumn	column;			/* hash key */
	List	   *masks;
	Oid			answered_user;	/* for whom the answer is good; InvalidOid: for nobody */
	const TdeMask *answer;
} MaskedColumn;

/* All of it is in one context, and forgotten at once when the next column is looked up: an invalidation may come while a mask is used. */
static MemoryContext context = NULL;
static HTAB *columns = NULL;
static bool stale = true;

void
tde_column_masks_forget(void)
{
	stale = true;
}

static void
relation_changed(Oid relation)
{
	stale = true;
}

/* Forgets all columns, and begins with none. */
static void
begin_anew(void)
{
	HASHCTL		control = {.keysize = sizeof(TdeColumn), .entrysize = sizeof(MaskedColumn)};

	if (context)
		MemoryContextDelete(context);
	columns = NULL;
	context = AllocSetContextCreate(CacheMemoryContext, "tde masks", ALLOCSET_SMALL_SIZES);
	control.hcxt = context;
	columns = hash_create("tde masked columns", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	stale = false;
}

/* Reads a column's label.  The list is in the context of all; what the parser leaves there beside it goes with that, too. */
static List *
read_masks(TdeColumn column)
{
	ObjectAddress object = {RelationRelationId, column.table, column.number};
	char	   *label = GetSecurityLabel(&object, TDE_LABEL_PROVIDER);
	MemoryContext before = MemoryContextSwitchTo(context);
	List	   *masks = label ? tde_mask_parse(label) : NIL;

	MemoryContextSwitchTo(before);
	return masks;
}

/* Returns what is known of the column.  The pointer and the masks are good until the next call. */
static MaskedColumn *
look_up(TdeColumn column)
{
	MaskedColumn *masked;

	if (stale)
		begin_anew();
	masked = hash_search(columns, &column, HASH_FIND, NULL);
	if (masked == NULL)
	{
		List	   *masks = read_masks(column);

		masked = hash_search(columns, &column, HASH_ENTER, NULL);
		masked->masks = masks;
		masked->answered_user = InvalidOid;
	}
	return masked;
}

/* ---- whose mask ---- */

/* Returns true if the user has the privileges of one of the mask's roles.  Roles that do not exist any more are passed over. */
static bool
is_of_user(const TdeMask *mask, Oid user)
{
	ListCell   *cell;

	foreach(cell, mask->roles)
	{
		Oid			role = tde_rights_role(lfirst(cell));

		if (OidIsValid(role) && tde_rights_has_privs(user, role))
			return true;
	}
	return false;
}

/* Returns the mask that shows most, of those for the user's roles: kinds are in this order.  Without any it is that of everybody else, or NULL. */
static const TdeMask *
choose(List *masks, Oid user)
{
	const TdeMask *best = NULL;
	ListCell   *cell;

	foreach(cell, masks)
	{
		const TdeMask *mask = lfirst(cell);

		if ((best == NULL || mask->kind < best->kind) && is_of_user(mask, user))
			best = mask;
	}
	return best ? best : tde_mask_of_role(masks, NULL);
}

/* TdeMasksCalls.of_column: the mask for the current user, which changes with SET ROLE and in functions of others. */
const TdeMask *
tde_mask_of_column(TdeColumn column)
{
	MaskedColumn *masked;
	Oid			user = GetUserId();

	if (!OidIsValid(column.table))
		return NULL;
	masked = look_up(column);
	if (masked->answered_user != user)
	{
		masked->answer = choose(masked->masks, user);
		masked->answered_user = user;
	}
	return masked->answer;
}

bool
tde_masks_exist(TdeColumn column)
{
	return OidIsValid(column.table) && look_up(column)->masks != NIL;
}

void
tde_column_masks_init(void)
{
	tde_memory_when_relation_changes(relation_changed);
}
