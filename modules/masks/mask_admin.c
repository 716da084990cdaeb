/*
 * mask_admin.c - setting masks: SECURITY LABEL FOR tde_column ON COLUMN, tde_set_mask() and tde_drop_mask(), which change one of its masks.
 *
 * Masks are no right of the table's owner: whoever may set them could show himself what he may not decrypt.  So that is a right of its own, by the
 * privilege to execute tde_set_mask().
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "masks/mask_admin.h"
#include "masks/mask_forms.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/extension.h"
#include "type/access.h"

PG_FUNCTION_INFO_V1(tde_masks_set_mask);
PG_FUNCTION_INFO_V1(tde_masks_drop_mask);

/* ---- what a column can have ---- */

/* Throws unless it is a table, or a materialized view. */
static void
require_table(Relation table)
{
	char		kind = table->rd_rel->relkind;

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table", RelationGetRelationName(table)),
				 errdetail("What is read through a view has the masks of the table's column.")));
}

/* Returns the encrypted type of a column, also under a domain, and its typmod; NULL: it is not encrypted. */
static TdeType *
masked_type(Form_pg_attribute column, int32 *typmod)
{
	*typmod = column->atttypmod;
	return tde_type_find(getBaseTypeAndTypmod(column->atttypid, typmod));
}

/* Throws unless the column can have these masks. */
static void
require_masks(Relation table, int number, const char *label)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(table), number - 1);
	int32		typmod;
	TdeType    *type = masked_type(column, &typmod);
	ListCell   *cell;

	require_table(table);
	if (type == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("column \"%s\" of table \"%s\" is not encrypted", NameStr(column->attname), RelationGetRelationName(table)),
				 errhint("Masks are for columns of an encrypted type, and not for arrays, ranges and rows of such values.")));
	foreach(cell, tde_mask_parse(label))
		tde_mask_require_form(lfirst(cell), type, tde_type_base_typmod(type, typmod));
}

/* Who owns a table gives himself no right to see it by masks. */
static void
require_right(void)
{
	Oid			types[] = {REGCLASSOID, NAMEOID, TEXTOID, REGROLEOID};

	if (!tde_extension_may_execute("tde_set_mask", types, lengthof(types), GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set masks"),
				 errdetail("Only roles that may execute tde_set_mask() set masks, the table's owner among them or not.")));
}

/* Returns true if a label is removed from a column that has been decrypted since.  That gives its owner no right. */
static bool
is_left_over(Relation table, int number, const char *label)
{
	int32		typmod;

	return label == NULL && masked_type(TupleDescAttr(RelationGetDescr(table), number - 1), &typmod) == NULL;
}

/*
 * The label provider's check: SECURITY LABEL has looked the column up, locked its table, and checked that the user owns it.  label NULL: it is
 * removed.
 */
static void
check_label(const ObjectAddress *object, const char *label)
{
	Relation	table;

	if (object->classId != RelationRelationId || object->objectSubId == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("only columns have masks"),
				 errhint("Use SECURITY LABEL FOR %s ON COLUMN.", TDE_LABEL_PROVIDER)));
	table = relation_open(object->objectId, NoLock);
	if (!is_left_over(table, object->objectSubId, label))
		require_right();
	/* pg_upgrade carries over what there is, also of a column that has been decrypted since */
	if (label && !IsBinaryUpgrade)
		require_masks(table, object->objectSubId, label);
	/* plans are made anew, and what sessions remember is forgotten */
	CacheInvalidateRelcache(table);
	relation_close(table, NoLock);
}

/* ---- functions ---- */

/* Returns the name of a role that is an argument; NULL: everybody else. */
static const char *
role_name(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : GetUserNameFromId(PG_GETARG_OID(arg), false);
}

static void
require_arguments(FunctionCallInfo fcinfo, int count)
{
	for (int i = 0; i < count; i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("table, column and mask must not be null")));
}

/* Opens the table, and locks it against others who set masks, until the transaction ends. */
static Relation
open_column(FunctionCallInfo fcinfo, ObjectAddress *object)
{
	Relation	table = relation_open(PG_GETARG_OID(0), ShareUpdateExclusiveLock);
	char	   *name = NameStr(*PG_GETARG_NAME(1));
	int			number = get_attnum(RelationGetRelid(table), name);

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of table \"%s\" does not exist", name, RelationGetRelationName(table))));
	*object = (ObjectAddress) {RelationRelationId, RelationGetRelid(table), number};
	return table;
}

/* Takes the role's mask out of the others, NULL: that of everybody else.  *found: there was one. */
static List *
without(List *masks, const char *role, bool *found)
{
	TdeMask    *mask = tde_mask_of_role(masks, role);
	ListCell   *cell;

	*found = mask != NULL;
	if (mask == NULL)
		return masks;
	foreach(cell, mask->roles)
		if (strcmp(lfirst(cell), role) == 0)
			mask->roles = foreach_delete_current(mask->roles, cell);
	return mask->roles == NIL ? list_delete_ptr(masks, mask) : masks;
}

static List *
masks_of(const ObjectAddress *object)
{
	char	   *label = GetSecurityLabel(object, TDE_LABEL_PROVIDER);

	return label ? tde_mask_parse(label) : NIL;
}

/* Stores the masks as the column's label.  The lock on the table is kept until the transaction ends. */
static void
store(Relation table, const ObjectAddress *object, List *masks)
{
	char	   *label = tde_mask_print(masks);

	if (label)
		require_masks(table, object->objectSubId, label);
	SetSecurityLabel(object, TDE_LABEL_PROVIDER, label);
	CacheInvalidateRelcache(table);
	relation_close(table, NoLock);
	CommandCounterIncrement();
}

/*
 * tde_set_mask(table regclass, column name, mask text, role regrole) - set the column's mask for a role, or for everybody else.  Who may execute it
 * need not own the table.
 */
Datum
tde_masks_set_mask(PG_FUNCTION_ARGS)
{
	ObjectAddress object;
	Relation	table;
	const char *role = role_name(fcinfo, 3);
	List	   *given;
	List	   *masks;
	bool		found;

	tde_log_call(fcinfo, NULL);
	require_arguments(fcinfo, 3);
	table = open_column(fcinfo, &object);
	given = tde_mask_parse(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	if (list_length(given) > 1 || ((TdeMask *) linitial(given))->roles != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("one mask is expected, without roles"),
				 errhint("Give the role to the function, or write SECURITY LABEL FOR %s ON COLUMN.", TDE_LABEL_PROVIDER)));
	if (role)
		((TdeMask *) linitial(given))->roles = list_make1(unconstify(char *, role));
	masks = without(masks_of(&object), role, &found);
	store(table, &object, list_concat(masks, given));
	if (!tde_access_restricted)
		ereport(WARNING,
				(errmsg("masks have no effect while everybody may decrypt"),
				 errhint("Set %s for this database; only roles without that role get masks.", "tde_column.decrypt_role")));
	PG_RETURN_VOID();
}

/* tde_drop_mask(table regclass, column name, role regrole) - take the column's mask for a role, or for everybody else, away. */
Datum
tde_masks_drop_mask(PG_FUNCTION_ARGS)
{
	ObjectAddress object;
	Relation	table;
	const char *role = role_name(fcinfo, 2);
	List	   *masks;
	bool		found;

	tde_log_call(fcinfo, NULL);
	require_arguments(fcinfo, 2);
	table = open_column(fcinfo, &object);
	masks = without(masks_of(&object), role, &found);
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 role ? errmsg("column \"%s\" of table \"%s\" has no mask for role \"%s\"", NameStr(*PG_GETARG_NAME(1)),
							   RelationGetRelationName(table), role) :
				 errmsg("column \"%s\" of table \"%s\" has no mask for everybody else", NameStr(*PG_GETARG_NAME(1)), RelationGetRelationName(table))));
	store(table, &object, masks);
	PG_RETURN_VOID();
}

void
tde_mask_admin_init(void)
{
	register_label_provider(TDE_LABEL_PROVIDER, check_label);
}
