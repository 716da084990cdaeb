/*
 * counts_views.c - the functions under the view tde.decryptions, and tde_decryptions_reset().
 *
 * Rows are of all databases of the instance.  The functions give numbers; the view looks up names, of what is in its own database.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "decryptions/counts.h"
#include "decryptions/counts_shared.h"
#include "server/compat.h"
#include "server/error.h"

PG_FUNCTION_INFO_V1(tde_decryptions_decryption_rows);
PG_FUNCTION_INFO_V1(tde_decryptions_decryptions_info);
PG_FUNCTION_INFO_V1(tde_decryptions_decryptions_reset);

/* Throws where nothing is counted.  What this session has decrypted is told first, so that the view has it. */
static void
require_shared(void)
{
	if (!tde_decryptions_shared())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tde_column must be loaded via shared_preload_libraries"),
				 errhint("Add tde_column to shared_preload_libraries and restart.")));
	/* what this session has done counts as well */
	tde_counts_statement_ends(0);
}

/* Returns true if the row is of a role that the user is, or that he has logged in as; of all rows for pg_read_all_stats. */
static bool
may_see(const TdeDecryptionsKey *key)
{
	Oid			user = GetUserId();

	return key->role == user || key->session_role == user || has_privs_of_role(user, ROLE_PG_READ_ALL_STATS);
}

/*
 * tde_decryption_rows(OUT day, database_id, session_role_id, role_id, table_id, column_number, purpose, decrypted) - the caller's own, or all
 * for pg_read_all_stats.
 */
Datum
tde_decryptions_decryption_rows(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
	TdeDecryptionsInfo info;
	TdeDecryptionsRow *rows;

	require_shared();
	InitMaterializedSRF(fcinfo, 0);
	rows = tde_decryptions_read(&info);
	for (int64 i = 0; i < info.rows; i++)
	{
		const TdeDecryptionsKey *key = &rows[i].key;
		Datum		values[8];
		bool		nulls[8] = {0};

		CHECK_FOR_INTERRUPTS();
		if (!may_see(key))
			continue;
		values[0] = DateADTGetDatum(key->day);
		values[1] = ObjectIdGetDatum(key->database);
		values[2] = ObjectIdGetDatum(key->session_role);
		values[3] = ObjectIdGetDatum(key->role);
		values[4] = ObjectIdGetDatum(key->relation);
		values[5] = Int16GetDatum(key->column);
		values[6] = CStringGetTextDatum(key->purpose == TDE_FOR_COMPARISON ? "comparison" : "reader");
		values[7] = Int64GetDatum((int64) rows[i].values);
		nulls[1] = !OidIsValid(key->database);
		nulls[4] = !OidIsValid(key->relation);
		nulls[5] = key->column == InvalidAttrNumber;
		tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* tde_decryptions_info(OUT others int8, OUT since timestamptz, OUT written timestamptz, OUT used int8, OUT max int8) */
Datum
tde_decryptions_decryptions_info(PG_FUNCTION_ARGS)
{
	TdeDecryptionsInfo info;
	TupleDesc	desc;
	Datum		values[5];
	bool		nulls[5] = {0};

	require_shared();
	pfree(tde_decryptions_read(&info));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = Int64GetDatum((int64) info.others);
	values[1] = TimestampTzGetDatum(info.since);
	values[2] = TimestampTzGetDatum(info.written);
	nulls[2] = info.written == 0;
	values[3] = Int64GetDatum(info.rows);
	values[4] = Int64GetDatum((int64) tde_decryptions_max);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/* tde_decryptions_reset(before date) returns int8 - forget what was counted before a day; NULL: all.  Returns the number of rows. */
Datum
tde_decryptions_decryptions_reset(PG_FUNCTION_ARGS)
{
	bool		all = PG_ARGISNULL(0);

	tde_log_call(fcinfo, NULL);
	require_shared();
	PG_RETURN_INT64(tde_decryptions_forget(all ? 0 : PG_GETARG_DATEADT(0), all));
}
