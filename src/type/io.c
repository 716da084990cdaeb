/*
 * io.c - input, output and binary functions, one C function for all encrypted types.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "server/compat.h"
#include "server/log_filter.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/ciphertext_form.h"
#include "type/datum.h"

PG_FUNCTION_INFO_V1(tde_in);
PG_FUNCTION_INFO_V1(tde_out);
PG_FUNCTION_INFO_V1(tde_recv);
PG_FUNCTION_INFO_V1(tde_send);

/* The type whose input function this is: its OID comes as an argument, and is the same at every call. */
static TdeType *
input_type(FunctionCallInfo fcinfo)
{
	Oid			oid = PG_GETARG_OID(1);
	TdeType    *type = fcinfo->flinfo->fn_extra;

	if (unlikely(type == NULL || type->oid != oid))
		fcinfo->flinfo->fn_extra = type = tde_type_get(oid);
	return type;
}

/*
 * tde_in(cstring, oid, int4) - the base type's input, then encryption.
 *
 * The typmod is -1 for every literal and untyped parameter (the length coercion follows), the column's for COPY, arrays,
 * composites and domains.  Always encrypts: a plaintext datum on the way would end up stored somewhere.  In the ciphertext
 * form there is nothing to encrypt.
 */
Datum
tde_in(PG_FUNCTION_ARGS)
{
	TdeType    *type = input_type(fcinfo);
	int32		typmod = PG_GETARG_INT32(2);
	FmgrInfo   *input;
	Datum		value;

	if (tde_ciphertext_wanted())
	{
		value = tde_ciphertext_in(type, PG_GETARG_CSTRING(0));
		PG_RETURN_DATUM(tde_datum_coerce(type, value, typmod, -1, false));
	}
	if (unlikely(PG_GETARG_CSTRING(0)[0] == 't'))
		tde_ciphertext_suspect(PG_GETARG_CSTRING(0));
	tde_log_mark();
	input = tde_base_input(type);
	if (!TDE_INPUT_CALL(input, PG_GETARG_CSTRING(0), type->ioparam, tde_type_base_typmod(type, typmod), fcinfo->context, &value))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(tde_datum_encrypt(type, value, typmod));
}

/* tde_out(encrypted) returns cstring - the base type's output of the decrypted value. */
Datum
tde_out(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeType    *type = call->proc->args[0];
	Datum		value;
	char	   *text;

	if (tde_ciphertext_wanted())
		PG_RETURN_CSTRING(tde_ciphertext_out(type, PG_GETARG_DATUM(0)));
	if (unlikely(tde_access_restricted) && !tde_access_permits(type, PG_GETARG_DATUM(0)))
		PG_RETURN_CSTRING(tde_access_hidden(type));
	value = tde_datum_decrypt_once(type, PG_GETARG_DATUM(0), call->declared[0]);
	text = OutputFunctionCall(tde_base_output(type), value);
	tde_datum_free(type, value);
	PG_RETURN_CSTRING(text);
}

/* tde_recv(internal, oid, int4) - the base type's binary format. */
Datum
tde_recv(PG_FUNCTION_ARGS)
{
	TdeType    *type = input_type(fcinfo);
	int32		typmod = PG_GETARG_INT32(2);
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	FmgrInfo   *receive;
	Datum		value;

	if (tde_ciphertext_wanted())
		PG_RETURN_DATUM(tde_datum_coerce(type, tde_ciphertext_recv(type, message), typmod, -1, false));
	tde_log_mark();
	receive = tde_base_receive(type);
	value = ReceiveFunctionCall(receive, message, type->ioparam, tde_type_base_typmod(type, typmod));
	PG_RETURN_DATUM(tde_datum_encrypt(type, value, typmod));
}

/* tde_send(encrypted) returns bytea - the base type's binary format of the decrypted value. */
Datum
tde_send(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeType    *type = call->proc->args[0];
	Datum		value;
	bytea	   *bytes;

	if (tde_ciphertext_wanted())
		PG_RETURN_BYTEA_P(tde_ciphertext_send(type, PG_GETARG_DATUM(0)));
	tde_access_check(type, PG_GETARG_DATUM(0));
	value = tde_datum_decrypt_once(type, PG_GETARG_DATUM(0), call->declared[0]);
	bytes = SendFunctionCall(tde_base_send(type), value);
	tde_datum_free(type, value);
	PG_RETURN_BYTEA_P(bytes);
}
