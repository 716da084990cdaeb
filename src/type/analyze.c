/*
 * analyze.c - statistics of encrypted columns: PostgreSQL's own, unless the wallet is closed.
 */
#include "postgres.h"

#include "commands/vacuum.h"

#include "server/compat.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_typanalyze);

/*
 * tde_typanalyze(internal) returns boolean - false while the wallet is closed: the column's old statistics stay, and the
 * other columns of the table are analyzed.  An error would end ANALYZE of the whole table, and autovacuum would try again
 * every minute.  It is one for a statistics object's expression (they have no number in the row), though: minor releases of
 * PostgreSQL crash at false there (16.2 was seen to).
 */
Datum
tde_typanalyze(PG_FUNCTION_ARGS)
{
	VacAttrStats *stats = (VacAttrStats *) PG_GETARG_POINTER(0);

	if (!tde_wallet_ensure_open())
	{
		if (stats->tupattnum == InvalidAttrNumber)
			tde_wallet_closed_error("to analyze an expression of a statistics object");
		PG_RETURN_BOOL(false);
	}
	PG_RETURN_BOOL(std_typanalyze(stats));
}
