/*
 * plain_form.h - values and rows in the base types, for whoever goes by types: clients, and procedural languages.
 */
#ifndef TDE_CLIENT_PLAIN_FORM_H
#define TDE_CLIENT_PLAIN_FORM_H

#include "access/htup.h"
#include "access/tupdesc.h"

#include "type/type.h"

/* What a column of an encrypted type, an array or a domain of one becomes. */
typedef struct TdePlainColumn
{
	TdeType    *type;			/* of it, or of its elements */
	bool		is_array;
	int32		typmod;			/* of the type */
	int32		declared;		/* what that declares */
	int32		base_typmod;
} TdePlainColumn;

extern TdePlainColumn tde_plain_column(Oid type, int32 typmod);

/* Give it its base type in a descriptor; it keeps name and collation. */
extern void tde_plain_describe(TupleDesc rows, int index, TdePlainColumn column);

/*
 * Rows as they are to be read by types: columns of encrypted types have the base types.  Where rows tell their types themselves (by_header),
 * those inside of others are, too, of no named type then, although a column declares one.
 */

/* Is it a type of rows, or of arrays of them, which may have encrypted fields?  Of rows of no named type each tells by itself. */
extern bool tde_plain_type_has_rows(Oid type);

/* Their descriptor, of a row type of its own; NULL: rows are so already. */
extern TupleDesc tde_plain_descriptor(TupleDesc rows, bool by_header);

/* A value of such a row, or of an argument; *isnull is set if that is what is shown of it to those who may not see it. */
extern Datum tde_plain_value(Oid type, int32 typmod, Datum value, bool by_header, bool *isnull);

/* A row; plain: its descriptor. */
extern HeapTuple tde_plain_tuple(HeapTuple row, TupleDesc rows, TupleDesc plain, bool by_header);

/* The encrypted row that shown was made of, as it is after somebody has changed that: what he has left alone stays as it was. */
extern HeapTuple tde_plain_changed(HeapTuple row, TupleDesc rows, HeapTuple shown, HeapTuple changed, TupleDesc plain);

#endif							/* TDE_CLIENT_PLAIN_FORM_H */
