/*
 * table_number.c - what tells a new row of tde.data_keys from the others: its number, slot, version and UUID.
 */
#include "postgres.h"

#include "commands/sequence.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/uuid.h"

#include "crypto/primitives.h"
#include "keys/limits.h"
#include "keys/table_rows.h"
#include "server/error.h"
#include "server/permanent.h"

void
tde_keystore_last(Relation rel, AttrNumber column, TdeDataKey *last)
{
	HeapTuple	tuple = tde_permanent_last(rel, tde_keystore_index(rel, column));

	last->id = 0;
	if (tuple)
		tde_keystore_row(tuple, RelationGetDescr(rel), last);
}

void
tde_keystore_new_uuid(uint8 *bytes)
{
	tde_check(tde_random_key(bytes, UUID_LEN));
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
}

/* Have the sequence go on after this number.  Whoever needs a key need not be one who may do that. */
static void
advance_sequence(Relation rel, Oid sequence, uint32 last)
{
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(rel->rd_rel->relowner, context | SECURITY_LOCAL_USERID_CHANGE);
	DirectFunctionCall2(setval_oid, ObjectIdGetDatum(sequence), Int64GetDatum((int64) last));
	SetUserIdAndSecContext(user, context);
}

uint32
tde_keystore_next_id(Relation rel, uint32 last)
{
	Oid			sequence = get_relname_relid("data_keys_id_seq", RelationGetNamespace(rel));
	int64		id;

	if (!OidIsValid(sequence))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("sequence \"%s\" does not exist", "tde.data_keys_id_seq")));
	id = nextval_internal(sequence, false);
	/* behind rows that it has not numbered: somebody has put them there, or set it back */
	if (id <= last)
	{
		advance_sequence(rel, sequence, last);
		id = nextval_internal(sequence, false);
	}
	if (id > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED), errmsg("no more data keys can be made")));
	return (uint32) id;
}

void
tde_keystore_number(Relation rel, TdeDataKey *row)
{
	TdeDataKey	last;

	tde_keystore_last(rel, TDE_KEYS_ID, &last);
	row->id = tde_keystore_next_id(rel, last.id);
	if (last.id != 0)
		memcpy(row->database, last.database, sizeof(row->database));
	else
		tde_keystore_new_uuid(row->database);
	tde_limits_start(row->id);
}

int32
tde_keystore_number_after(int32 last)
{
	if (last < 0 || last == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("no key can be made after slot or version %d", last),
				 errdetail("A row of tde.data_keys has this number, which no key can have been given."),
				 errhint("Restore a backup of the database that has the right rows.")));
	return last + 1;
}
