/*
 * plain_form.h - values and rows in the base types, for whoever goes by types: clients, and procedural languages.
 */
#ifndef TDE_CLIENT_PLAIN_FORM_H
#define TDE_CLIENT_PLAIN_FORM_H

#include "access/htup.h"
#include "access/tupdesc.h"

#include "type/type.h"

/* What a column of an encrypted type, an array or a domain of one becomes.  A value, without memory of its own. */
typedef struct TdePlainColumn
{
	TdeType    *type;			/* the encrypted type, or that of the elements */
	bool		is_array;
	int32		typmod;			/* of the encrypted type, through domains; -1: none */
	int32		declared;		/* what that declares: tde_declared() */
	int32		base_typmod;	/* of the base type; -1: none */
} TdePlainColumn;

/* Returns what a column of this type becomes.  Throws if it is none of these: tde_result_type() tells before. */
extern TdePlainColumn tde_plain_column(Oid type, int32 typmod);

/* Gives a column of a descriptor its base type, by its index from 0 on; it keeps name and collation. */
extern void tde_plain_describe(TupleDesc rows, int index, TdePlainColumn column);

/*
 * Rows as they are to be read by types: columns of encrypted types have the base types.  Where rows tell their types themselves (by_header),
 * those inside of others are, too, of no named type then, although a column declares one.
 */

/*
 * Returns true for a type of rows, or of arrays of them, which may have encrypted fields.  Of rows of no named type each tells by itself, so that
 * these are always such.
 */
extern bool tde_plain_type_has_rows(Oid type);

/*
 * Returns a descriptor of such rows, in the current memory context, of a registered row type of its own; NULL if the rows are as they are to be read
 * already.
 */
extern TupleDesc tde_plain_descriptor(TupleDesc rows, bool by_header);

/*
 * Returns a value of such a row, or an argument, in plain form; the value itself if it has no other.  *isnull: of the value; it is set if NULL is
 * what is shown of it to those who may not see it.  Counts what it gives out (type/opened.h), and throws as tde_result_value().
 */
extern Datum tde_plain_value(Oid type, int32 typmod, Datum value, bool by_header, bool *isnull);

/* Returns a row in plain form, palloc'd with all its parts.  rows: its descriptor.  plain: what tde_plain_descriptor() made of that. */
extern HeapTuple tde_plain_tuple(HeapTuple row, TupleDesc rows, TupleDesc plain, bool by_header);

/*
 * Returns an encrypted row with what somebody has changed in its plain form.  row: as it was.  shown: what tde_plain_tuple() made of it.  changed:
 * what has come back, of the descriptor plain.  A value that is the same, byte by byte, stays as it was stored; others are encrypted anew, and
 * checked by the conditions of domains.
 */
extern HeapTuple tde_plain_changed(HeapTuple row, TupleDesc rows, HeapTuple shown, HeapTuple changed, TupleDesc plain);

#endif							/* TDE_CLIENT_PLAIN_FORM_H */
