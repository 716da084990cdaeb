/*
 * problems.c - what is wrong, as rows of the result.
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "server/compat.h"
#include "server/error.h"
#include "verify/verify.h"

void
tde_verify_problem(TdeVerification *verification, ItemPointer tid, AttrNumber column, int code, const char *problem)
{
	Relation	rel = verification->rel;
	Datum		values[5] = {0};
	bool		nulls[5] = {0};

	values[0] = ObjectIdGetDatum(RelationGetRelid(rel));
	values[1] = PointerGetDatum(tid);
	nulls[1] = !ItemPointerIsValid(tid);
	values[2] = column > 0 ? NameGetDatum(&TupleDescAttr(RelationGetDescr(rel), column - 1)->attname) : (Datum) 0;
	nulls[2] = column <= 0;
	values[3] = CStringGetTextDatum(unpack_sql_state(code));
	values[4] = CStringGetTextDatum(problem);
	tuplestore_putvalues(verification->result->setResult, verification->result->setDesc, values, nulls);
	verification->problems++;
}

void
tde_verify_problem_caught(TdeVerification *verification, ItemPointer tid, AttrNumber column, const ErrorData *error)
{
	tde_verify_problem(verification, tid, column, error->sqlerrcode, error->message ? error->message : "");
}

bool
tde_verify_is_problem(const ErrorData *error)
{
	switch (ERRCODE_TO_CATEGORY(error->sqlerrcode))
	{
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_TRANSACTION_ROLLBACK:
			return false;
		default:
			return error->sqlerrcode != ERRCODE_TDE_WALLET_CLOSED && error->sqlerrcode != ERRCODE_TDE_WALLET_FAILURE;
	}
}
