/*
 * column.h - a column of a table, as what a value comes from.
 */
#ifndef TDE_SERVER_COLUMN_H
#define TDE_SERVER_COLUMN_H

typedef struct TdeColumn
{
	Oid			table;			/* InvalidOid: not known */
	int32		number;			/* InvalidAttrNumber: not known, while the table may be */
} TdeColumn;

#define TDE_NO_COLUMN	((TdeColumn) {InvalidOid, 0})

#endif							/* TDE_SERVER_COLUMN_H */
