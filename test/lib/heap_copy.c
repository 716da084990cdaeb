/*
 * heap_copy.c - a table access method for tests: heap by another name, without what an access method need not have.
 *
 * What asks for heap by its OID must refuse its tables; what scans them as any table must work.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "fmgr.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(heap_copy_handler);

static Oid
toast_am(Relation rel)
{
	return HEAP_TABLE_AM_OID;
}

Datum
heap_copy_handler(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	routine.scan_set_tidrange = NULL;
	routine.scan_getnextslot_tidrange = NULL;
	routine.relation_toast_am = toast_am;
	PG_RETURN_POINTER(&routine);
}
