/*
 * entries.h - an index whose entries are compared with the rows of its table.
 */
#ifndef TDE_VERIFY_ENTRIES_H
#define TDE_VERIFY_ENTRIES_H

#include "access/genam.h"
#include "access/relscan.h"
#include "lib/bloomfilter.h"
#include "nodes/execnodes.h"

#include "maintenance/owner.h"
#include "verify/verify.h"

/* An index that is being verified, in the memory of its table's verification.  Which members are set depends on its access method. */
typedef struct TdeEntries
{
	TdeVerification *verification;
	Relation	table;
	Relation	index;
	IndexInfo  *info;
	EState	   *estate;
	TupleTableSlot *slot;		/* the row that is compared */
	Snapshot	snapshot;
	TdeCaller	caller;			/* whose rights the owner's expressions do not have */
	TdeDiscretion discretion;	/* and who may not know what they say */
	IndexFetchTableData *fetch; /* but of a hash index */

	/* of a btree */
	bloom_filter *seen;			/* TIDs of rows that have an entry */

	/* of a hash index */
	IndexScanDesc scan;
	RegProcedure equal;
} TdeEntries;

#endif							/* TDE_VERIFY_ENTRIES_H */
