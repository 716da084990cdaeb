/*
 * names.c - names of keys: their slots, and those of destroyed ones.
 *
 * A key is destroyed and its name free again, while columns may still be declared with it.  Such declarations have to print, and to be restored, as
 * something else than the new key of that name.  So they print NAME~destroyed~SLOT, which is no row's name, but computed whenever it is needed.
 */
#include "postgres.h"

#include "access/table.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "keys/names.h"
#include "keys/table_rows.h"
#include "server/compat.h"

bool
tde_keys_is_number(const char *name)
{
	return *name != '\0' && strspn(name, "0123456789") == strlen(name);
}

void
tde_keys_check_name(const char *name)
{
	if (*name == '\0' || strlen(name) >= NAMEDATALEN || tde_keys_is_number(name) ||
		strcmp(name, "default") == 0 || strcmp(name, "catalog") == 0 || strcmp(name, "hash") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name for a key: \"%s\"", name),
				 errdetail("A name has 1 to %d bytes, is not a number and none of \"default\", \"catalog\" and \"hash\".",
						   NAMEDATALEN - 1)));
}

const char *
tde_keys_called(const TdeDataKey *row)
{
	switch (row->slot)
	{
		case TDE_SLOT_DEFAULT:
			return "default";
		case TDE_SLOT_CATALOG:
			return "catalog";
		case TDE_SLOT_HASH:
			return "hash";
		default:
			return row->name[0] != '\0' ? row->name : psprintf("%d", row->slot);
	}
}

/* Visitor of the rows of one name.  Versions of one key have one slot, and at most one key that is alive has the name. */
static void
note_slot(const TdeDataKey *row, void *arg)
{
	if (row->state != TDE_STATE_DESTROYED)
		*(int32 *) arg = row->slot;
}

int32
tde_keys_slot(const char *name)
{
	int32		slot = TDE_NO_SLOT;
	Relation	rel;

	if (strcmp(name, "default") == 0)
		return TDE_SLOT_DEFAULT;
	if (strcmp(name, "catalog") == 0)
		return TDE_SLOT_CATALOG;
	if (*name == '\0')
		return TDE_NO_SLOT;
	rel = table_open(tde_keys_require(), AccessShareLock);
	tde_keys_scan_where(rel, TDE_KEYS_NAME, CStringGetTextDatum(name), note_slot, &slot);
	table_close(rel, AccessShareLock);
	return slot;
}

static void
note_name(const TdeDataKey *row, void *arg)
{
	TdeSlotName *found = arg;

	found->exists = true;
	found->destroyed |= row->state == TDE_STATE_DESTROYED;
	strlcpy(found->name, row->name, sizeof(found->name));
}

#define DESTROYED_MARK	"~destroyed~"

/* A restore elsewhere may have made keys of such names, so there are several: each with one more mark than the one before. */
#define MAX_MARKS	32

/* NAME~destroyed~SLOT, with this many marks in front. */
static void
name_destroyed(char name[NAMEDATALEN], const char *original, int marks, int32 slot)
{
	char		suffix[NAMEDATALEN + 16];
	int			room;

	snprintf(suffix, sizeof(suffix), "%.*s%s%d", marks - 1, "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~", DESTROYED_MARK, slot);
	room = pg_mbcliplen(original, strlen(original), NAMEDATALEN - 1 - strlen(suffix));
	snprintf(name, NAMEDATALEN, "%.*s%s", room, original, suffix);
}

/*
 * Returns the slot that such a name means; TDE_NO_SLOT if it is none.  The digits alone do not suffice: the slot has to print as this very name, or
 * somebody's own key of that form is meant.
 */
static int32
slot_of_destroyed(const char *name)
{
	size_t		length = strlen(name);
	size_t		digits = length;
	long		slot;

	while (digits > 0 && isdigit((unsigned char) name[digits - 1]))
		digits--;
	if (digits < strlen(DESTROYED_MARK) || strncmp(name + digits - strlen(DESTROYED_MARK), DESTROYED_MARK, strlen(DESTROYED_MARK)) != 0)
		return TDE_NO_SLOT;
	errno = 0;
	slot = strtol(name + digits, NULL, 10);
	if (errno != 0 || slot <= TDE_SLOT_DEFAULT || slot > PG_INT32_MAX)
		return TDE_NO_SLOT;
	return strcmp(tde_keys_name((int32) slot).name, name) == 0 ? (int32) slot : TDE_NO_SLOT;
}

int32
tde_keys_declared_slot(const char *name)
{
	int32		slot = tde_keys_slot(name);

	return slot == TDE_NO_SLOT ? slot_of_destroyed(name) : slot;
}

/* What note_namesake() looks for. */
typedef struct Namesake
{
	int32		slot;
	bool		found;
} Namesake;

static void
note_namesake(const TdeDataKey *row, void *arg)
{
	Namesake   *other = arg;

	other->found |= row->slot != other->slot;
}

/* Returns true if a key of a slot other than this one has this name, or had it and was destroyed. */
static bool
is_name_of_another(const char *name, int32 slot)
{
	Relation	rel = table_open(tde_keys_require(), AccessShareLock);
	Namesake	other = {slot, false};

	tde_keys_scan_where(rel, TDE_KEYS_NAME, CStringGetTextDatum(name), note_namesake, &other);
	table_close(rel, AccessShareLock);
	return other.found;
}

TdeSlotName
tde_keys_name(int32 slot)
{
	TdeSlotName found = {slot == TDE_SLOT_DEFAULT};
	char		original[NAMEDATALEN];

	tde_keys_scan_slot(slot, note_name, &found);
	if (!found.destroyed)
		return found;
	/* another key has the name, too: one that means this slot here, and elsewhere a key of its own */
	strlcpy(original, found.name, sizeof(original));
	for (int marks = 1; marks <= MAX_MARKS && is_name_of_another(found.name, slot); marks++)
		name_destroyed(found.name, original, marks, slot);
	return found;
}

const char *
tde_keys_slot_called(int32 slot)
{
	TdeDataKey	key = {.slot = slot};

	if (slot > TDE_SLOT_DEFAULT)
		strlcpy(key.name, tde_keys_name(slot).name, sizeof(key.name));
	return pstrdup(tde_keys_called(&key));
}

/* The error fits the reason: names that no key can have get no hint to make one, and a destroyed key is not said never to have been. */
void
tde_keys_missing(const char *name)
{
	char	   *make = psprintf("SELECT tde_create_key(%s);", quote_literal_cstr(name));

	/* no key can have such a name */
	if (*name == '\0' || strcmp(name, "catalog") == 0 || strcmp(name, "hash") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" does not exist", name),
				 errhint("The view tde.keys lists them.")));
	if (is_name_of_another(name, TDE_NO_SLOT))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" was destroyed", name),
				 errhint("Make another one of this name: %s", make)));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("key \"%s\" does not exist", name),
			 errhint("Make it: %s", make)));
}

bool
tde_keys_is_free(const char *name)
{
	return *name != '\0' && tde_keys_slot(name) == TDE_NO_SLOT && !is_name_of_another(name, TDE_NO_SLOT);
}

int32
tde_keys_require_slot(const char *name)
{
	int32		slot = tde_keys_slot(name);

	if (slot == TDE_NO_SLOT)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" does not exist", name),
				 errhint("The view tde.keys lists them.")));
	return slot;
}

/*
 * Destroyed keys of this name are no obstacle.  But a name that some declaration prints for a destroyed key cannot be given to another one: the
 * declaration would mean that then.
 */
void
tde_keys_refuse_taken(const char *name)
{
	int32		slot = tde_keys_slot(name);

	if (slot != TDE_NO_SLOT)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("key \"%s\" already exists", name),
				 errhint("Choose another name, or make a new version of that key: SELECT tde_rotate_key(%s);", quote_literal_cstr(name))));
	slot = slot_of_destroyed(name);
	if (slot != TDE_NO_SLOT)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("key name \"%s\" is taken", name),
				 errdetail("Declarations use this name for key %d, which was destroyed and whose own name another key has.", slot)));
}
