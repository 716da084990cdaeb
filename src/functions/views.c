/*
 * views.c - the functions under the views tde.encrypted_columns, tde.wallet, tde.keys and tde.stats.
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "server/compat.h"
#include "server/counters.h"
#include "server/this_server.h"
#include "type/type.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_wallet_status);
PG_FUNCTION_INFO_V1(tde_stats_counters);
PG_FUNCTION_INFO_V1(tde_key_encryptions);
PG_FUNCTION_INFO_V1(tde_type_spec);

static Datum
return_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/* Oracle's words, as in V$ENCRYPTION_WALLET. */
static const char *
status_word(const TdeWalletInfo *info)
{
	if (info->status == TDE_WALLET_OPEN)
		return "OPEN";
	if (tde_wallet_file == NULL || tde_wallet_file[0] == '\0')
		return "NOT_AVAILABLE";
	return "CLOSED";
}

/*
 * tde_wallet_status(OUT file, status, instance_wide, opened_at, master_keys, current_master_key, owner, may_change) - owner: the server
 * that may change it; NULL if nobody has changed it yet since wallets have one.
 */
Datum
tde_wallet_status(PG_FUNCTION_ARGS)
{
	TdeWalletInfo info = tde_wallet_info();
	bool		open = info.status == TDE_WALLET_OPEN;
	Datum		values[8];
	bool		nulls[8] = {0};
	pg_uuid_t	uuid;

	memcpy(uuid.data, info.current_master, UUID_LEN);
	values[0] = CStringGetTextDatum(tde_wallet_file ? tde_wallet_file : "");
	values[1] = CStringGetTextDatum(status_word(&info));
	values[2] = BoolGetDatum(info.instance_wide);
	values[3] = TimestampTzGetDatum(info.opened_at);
	values[4] = Int32GetDatum(info.master_keys);
	values[5] = UUIDPGetDatum(&uuid);
	values[6] = CStringGetTextDatum(info.owner.name);
	values[7] = BoolGetDatum(tde_server_owns(&info.owner));
	nulls[3] = nulls[4] = nulls[5] = nulls[7] = !open;
	nulls[6] = !open || info.owner.name[0] == '\0';
	return return_row(fcinfo, values, nulls);
}

/* tde_stats_counters(OUT encryptions, decryptions, key_setups, key_loads) - of this backend. */
Datum
tde_stats_counters(PG_FUNCTION_ARGS)
{
	Datum		values[4];
	bool		nulls[4] = {0};

	values[0] = Int64GetDatum(tde_stats.encryptions);
	values[1] = Int64GetDatum(tde_stats.decryptions);
	values[2] = Int64GetDatum(tde_stats.key_setups);
	values[3] = Int64GetDatum(tde_stats.key_loads);
	return return_row(fcinfo, values, nulls);
}

/* tde_key_encryptions(id int4) returns int8 - values that a data key of this database has encrypted since the server started. */
Datum
tde_key_encryptions(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(tde_counters_read(PG_GETARG_INT32(0)));
}

/*
 * tde_type_spec(type oid, typmod int4, OUT base_type, cipher, mode, salt, mac, key_slot) - what a declared type means; all
 * NULL if it is not an encrypted type (or an array of one), and all but base_type NULL if it is declared bare.
 */
Datum
tde_type_spec(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	int32		typmod = PG_GETARG_INT32(1);
	Oid			element = get_element_type(oid);
	TdeType    *type = tde_type_find(OidIsValid(element) ? element : oid);
	Datum		values[6];
	bool		nulls[6] = {true, true, true, true, true, true};

	if (type)
	{
		TdeModifiers mods = {{0}};

		if (typmod >= 0)
			mods = tde_modifiers_unpack(type->layout, typmod);
		values[0] = CStringGetTextDatum(format_type_with_typemod(type->base, typmod >= 0 ? mods.base_typmod : -1));
		nulls[0] = false;
		if (typmod >= 0)
		{
			values[1] = CStringGetTextDatum(tde_cipher_word(mods.spec));
			values[2] = CStringGetTextDatum(tde_mode_word(mods.spec));
			values[3] = BoolGetDatum(mods.spec.salted);
			values[4] = CStringGetTextDatum(mods.spec.mac == TDE_SHA1 ? "sha1" : tde_mac_word(mods.spec));
			values[5] = Int32GetDatum(mods.slot);
			memset(nulls, 0, sizeof(nulls));
		}
	}
	return return_row(fcinfo, values, nulls);
}
