/*
 * access.c - who may see values in clear: members of tde_column.decrypt_role, if it is set, and others where a column's masks say so.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/plancache.h"
#include "utils/syscache.h"

#include "server/compat.h"
#include "server/error.h"
#include "server/rights.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/ciphertext_form.h"
#include "type/datum.h"
#include "type/masks.h"
#include "type/opened.h"

PG_FUNCTION_INFO_V1(tde_may_decrypt);

char	   *tde_decrypt_role = NULL;
int			tde_decrypt_policy = TDE_POLICY_ERROR;
bool		tde_access_restricted = false;
bool		tde_access_watched = false;

/* The last answer, and for whom it is good; InvalidOid: for nobody. */
static Oid	answered_user = InvalidOid;
static bool answer;

/* Rises when roles may have changed. */
static uint64 roles_epoch = 0;

/* ---- the role ---- */

/*
 * Returns true if a role has privileges of tde_column.decrypt_role.  A name that no role has leaves superusers: else a misspelt setting would let
 * everybody decrypt.
 */
static bool
has_role(Oid user)
{
	Oid			role = tde_rights_role(tde_decrypt_role);

	return OidIsValid(role) ? tde_rights_has_privs(user, role) : tde_rights_superuser(user);
}

/* While the role is looked up, which may throw, there is no answer.  One that roles have changed under is good for this once. */
bool
tde_access_is_permitted(void)
{
	Oid			user = GetUserId();
	uint64		epoch = roles_epoch;

	if (!tde_access_restricted)
		return true;
	if (answered_user != user)
	{
		answered_user = InvalidOid;
		answer = has_role(user);
		if (epoch == roles_epoch)
			answered_user = user;
	}
	return answer;
}

/* A syscache callback: roles, their memberships, or owners of databases have changed. */
static void
forget_answer(Datum arg, int cacheid, uint32 hashvalue)
{
	roles_epoch++;
	answered_user = InvalidOid;
	tde_ciphertext_forget_permission();
	if (tde_masks)
		tde_masks->forget();
}

void
tde_access_assign_role(const char *newval, void *extra)
{
	/* plans say which columns values come from only while somebody may not see them */
	if (tde_access_restricted != (newval[0] != '\0'))
		ResetPlanCache();
	tde_access_restricted = newval[0] != '\0';
	tde_access_watched = tde_access_restricted || tde_track_decryptions;
	answered_user = InvalidOid;
}

bool
tde_access_permits(TdeType *type, Datum value)
{
	return tde_access_is_permitted() || tde_datum_is_literal(type, value);
}

bool
tde_access_permits_argument(TdeCall *call, int arg, Datum value)
{
	const TdeMask *mask;

	if (tde_access_permits(call->proc->args[arg], value))
		return true;
	mask = tde_masks_of_column(call->columns[arg]);
	return mask && mask->kind == TDE_MASK_CLEAR;
}

void
tde_access_refuse(TdeType *type)
{
	const char *user = tde_rights_role_name(GetUserId());

	if (!OidIsValid(tde_rights_role(tde_decrypt_role)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to decrypt values of type %s", format_type_be(type->oid)),
				 errdetail("Only superusers may decrypt, since there is no role \"%s\".", tde_decrypt_role),
				 errhint("Have a superuser run \"CREATE ROLE %s\", or set %s to another one.", quote_identifier(tde_decrypt_role),
						 "tde_column.decrypt_role")));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to decrypt values of type %s", format_type_be(type->oid)),
			 errdetail("Only roles with privileges of role \"%s\" may decrypt.", tde_decrypt_role),
			 errhint("Leave encrypted columns out of the query, or have a superuser run \"GRANT %s TO %s\".",
					 quote_identifier(tde_decrypt_role), quote_identifier(user ? user : "?"))));
}

/* ---- values that PostgreSQL quotes in the details of errors ---- */

char *
tde_access_hidden(TdeType *type)
{
	if (!tde_statement.ends)
	{
		if (!tde_statement.changes_data)
			tde_access_refuse(type);
		tde_statement.hidden = type;
	}
	return pstrdup("****");
}

TdeStatement
tde_access_begin(bool changes_data)
{
	TdeStatement outer = tde_statement;

	tde_statement.changes_data = changes_data;
	tde_statement.ends = false;
	tde_statement.hidden = NULL;
	return outer;
}

TdeStatement
tde_access_begin_end(void)
{
	TdeStatement outer = tde_access_begin(false);

	tde_statement.ends = true;
	return outer;
}

void
tde_access_end(TdeStatement outer)
{
	TdeType    *hidden = tde_statement.hidden;

	tde_statement = outer;
	if (hidden)
		tde_access_refuse(hidden);
}

/* tde_may_decrypt() returns boolean */
Datum
tde_may_decrypt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(tde_access_is_permitted());
}

/* ---- results of a client's statements ---- */

/*
 * Returns a value of the base type that says nothing, as text; NULL if none is known, as for users' types.  It is read by the base type's input
 * function.
 */
static const char *
mask_text(Oid base)
{
	switch (base)
	{
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return "****";
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case INTERVALOID:
			return "0";
		case BOOLOID:
			return "false";
		case DATEOID:
		case TIMESTAMPOID:
			return "1970-01-01";
		case TIMESTAMPTZOID:
			return "1970-01-01 00:00+00";
		case TIMEOID:
			return "00:00";
		case TIMETZOID:
			return "00:00+00";
		case BYTEAOID:
			return "";
		case UUIDOID:
			return "00000000-0000-0000-0000-000000000000";
		case JSONOID:
		case JSONBOID:
			return "null";
		case INETOID:
			return "0.0.0.0";
		default:
			return NULL;
	}
}

Datum
tde_access_result(TdeType *type, int32 base_typmod, bool *isnull)
{
	const char *mask = mask_text(type->base);
	Datum		value;

	if (tde_decrypt_policy == TDE_POLICY_ERROR)
		tde_access_refuse(type);
	*isnull = tde_decrypt_policy == TDE_POLICY_NULL || mask == NULL;
	if (*isnull)
		return (Datum) 0;
	value = InputFunctionCall(tde_base_input(type), unconstify(char *, mask), type->ioparam, -1);
	/* as an explicit cast: it cuts the mask to the length of a varchar(3) */
	return tde_base_coerce(type, value, base_typmod, true);
}

/* ---- reasons ---- */

bool
tde_access_may_know_reason(void)
{
	return has_bypassrls_privilege(GetUserId());
}

void
tde_access_throw_alike(const char *reason)
{
	ereport(LOG_SERVER_ONLY,
			(errmsg("a comparison could not read an encrypted value: %s", reason),
			 errdetail("Its error does not say so, since row level security may hide the value.")));
	tde_error_throw(TDE_E_AUTH);
}

/* Returns true for an error that depends on the value: not that the wallet is closed, that the statement is canceled, or that there is no memory. */
static bool
is_about_value(int code)
{
	return code == ERRCODE_TDE_KEY_NOT_FOUND || code == ERRCODE_TDE_NOT_AUTHENTIC || code == ERRCODE_TDE_CRYPTO_FAILURE ||
		code == ERRCODE_FEATURE_NOT_SUPPORTED;
}

const TdeKey *
tde_access_key_for_comparing(uint32 id, TdeSpec spec, const uint8 type_tag[TDE_TYPE_TAG_SIZE])
{
	MemoryContext context = CurrentMemoryContext;
	const TdeKey *volatile key = NULL;

	PG_TRY();
	{
		key = tde_key_for_reading(id, spec, type_tag);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		if (!is_about_value(geterrcode()) || tde_access_may_know_reason())
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		tde_access_throw_alike(error->message);
	}
	PG_END_TRY();
	return key;
}

static void
forget_permission(Datum arg, int cacheid, uint32 hashvalue)
{
	tde_ciphertext_forget_permission();
}

void
tde_access_init(void)
{
	CacheRegisterSyscacheCallback(AUTHOID, forget_answer, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, forget_answer, (Datum) 0);
	CacheRegisterSyscacheCallback(DATABASEOID, forget_answer, (Datum) 0);	/* whoever owns it is a member of pg_database_owner */
	CacheRegisterSyscacheCallback(PROCOID, forget_permission, (Datum) 0);
}
