/*
 * plain_form.c - values and rows in the base types, and what has been changed in such a row encrypted again.
 *
 * Those who call: result_receiver.c for a client's rows, language_rows.c for what languages read, output_plugin.c for decoded changes, rows.c for
 * rows in a client's result.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/toast_compression.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "client/plain_form.h"
#include "client/result.h"
#include "operators/arrays.h"
#include "server/compat.h"
#include "type/declared.h"
#include "type/inside.h"
#include "type/opened.h"

/* ---- types ---- */

TdePlainColumn
tde_plain_column(Oid type, int32 typmod)
{
	TdePlainColumn column = {.type = tde_type_find(type)};

	if (column.type == NULL)
	{
		Oid			base = getBaseTypeAndTypmod(type, &typmod);
		Oid			element = get_element_type(base);

		column.is_array = OidIsValid(element);
		column.type = tde_type_get(column.is_array ? element : base);
	}
	column.typmod = typmod;
	column.declared = tde_declared(column.type, typmod);
	column.base_typmod = tde_type_base_typmod(column.type, typmod);
	return column;
}

void
tde_plain_describe(TupleDesc rows, int index, TdePlainColumn column)
{
	Form_pg_attribute attribute = TupleDescAttr(rows, index);
	TdeType    *type = column.type;

	attribute->atttypid = type->base;
	attribute->atttypmod = column.base_typmod;
	attribute->attlen = type->base_len;
	attribute->attbyval = type->base_byval;
	attribute->attalign = type->base_align;
	attribute->attstorage = type->base_storage;
	attribute->attcompression = InvalidCompressionMethod;
	if (unlikely(column.is_array))
	{
		attribute->atttypid = get_array_type(type->base);
		get_typlenbyvalalign(attribute->atttypid, &attribute->attlen, &attribute->attbyval, &attribute->attalign);
		attribute->attstorage = get_typstorage(attribute->atttypid);
	}
	else
		attribute->attndims = 0;
	TDE_COLUMN_CHANGED(rows, index);
}

bool
tde_plain_type_has_rows(Oid type)
{
	Oid			element = type == RECORDARRAYOID ? RECORDOID : get_element_type(type);

	if (!OidIsValid(element))
		element = type;
	return element == RECORDOID || (type_is_rowtype(element) && get_typtype(element) == TYPTYPE_COMPOSITE && tde_type_holds_encrypted(element));
}

/* Returns true if a value of this type is another one in plain form.  For PostgreSQL's own types, most of all, without a lookup. */
static bool
differs(Oid type, bool by_header)
{
	if (type < FirstNormalObjectId && type != RECORDOID && type != RECORDARRAYOID)
		return false;
	return tde_result_type(type) != NULL || (by_header && tde_plain_type_has_rows(type));
}

TupleDesc
tde_plain_descriptor(TupleDesc rows, bool by_header)
{
	TupleDesc	plain = NULL;

	for (int i = 0; i < rows->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(rows, i);

		if (attribute->attisdropped || !differs(attribute->atttypid, by_header))
			continue;
		if (plain == NULL)
			plain = CreateTupleDescCopy(rows);
		if (tde_result_type(attribute->atttypid))
			tde_plain_describe(plain, i, tde_plain_column(attribute->atttypid, attribute->atttypmod));
	}
	if (plain == NULL)
		return NULL;
	plain->tdtypeid = RECORDOID;
	plain->tdtypmod = -1;
	plain = BlessTupleDesc(plain);
	/* what the type of a row does not have: languages show no generated column that is not computed yet */
	for (int i = 0; i < rows->natts; i++)
		TupleDescAttr(plain, i)->attgenerated = TupleDescAttr(rows, i)->attgenerated;
	return plain;
}

/* ---- values ---- */

/* Returns a row that tells its type itself in plain form; the value itself if it has nothing encrypted. */
static Datum
plain_row(Datum value)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	TupleDesc	rows = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	TupleDesc	plain = tde_plain_descriptor(rows, true);
	HeapTupleData row = {.t_len = HeapTupleHeaderGetDatumLength(header), .t_data = header};

	return plain ? heap_copy_tuple_as_datum(tde_plain_tuple(&row, rows, plain, true), plain) : value;
}

/* Returns an array of such rows, each of which may be of another type. */
static Datum
plain_rows(Datum value, Oid element)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Datum	   *values;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, element, -1, false, TYPALIGN_DOUBLE, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			values[i] = plain_row(values[i]);
	}
	return PointerGetDatum(construct_md_array(values, nulls, ARR_NDIM(array), ARR_DIMS(array), ARR_LBOUND(array), element, -1, false,
											  TYPALIGN_DOUBLE));
}

Datum
tde_plain_value(Oid type, int32 typmod, Datum value, bool by_header, bool *isnull)
{
	TdePlainColumn column;
	TdeDecrypted *place = NULL;
	Oid			element;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (*isnull || !differs(type, by_header))
		return value;
	if (tde_result_type(type) == NULL)
	{
		element = get_element_type(type);
		return OidIsValid(element) ? plain_rows(value, element) : plain_row(value);
	}
	column = tde_plain_column(type, typmod);
	if (unlikely(tde_access_watched) && tde_access_is_permitted())
		tde_opened_value(&place, TDE_NO_COLUMN, value, column.is_array);
	if (column.is_array)
		return PointerGetDatum(tde_array_decrypt(column.type, DatumGetArrayTypeP(value), column.declared, column.base_typmod, tde_result_value));
	return tde_result_value(column.type, value, column.declared, column.base_typmod, isnull);
}

HeapTuple
tde_plain_tuple(HeapTuple row, TupleDesc rows, TupleDesc plain, bool by_header)
{
	Datum	   *values = palloc(rows->natts * sizeof(Datum));
	bool	   *nulls = palloc(rows->natts * sizeof(bool));
	HeapTuple	tuple;

	heap_deform_tuple(row, rows, values, nulls);
	for (int i = 0; i < rows->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(rows, i);

		if (!attribute->attisdropped)
			values[i] = tde_plain_value(attribute->atttypid, attribute->atttypmod, values[i], by_header, &nulls[i]);
	}
	tuple = heap_form_tuple(plain, values, nulls);
	tuple->t_self = row->t_self;
	tuple->t_tableOid = row->t_tableOid;
	return tuple;
}

/* ---- encrypted again ---- */

/* The new array has the dimensions and bounds of the old one. */
static Datum
encrypt_array(TdePlainColumn column, ArrayType *array)
{
	TdeType    *type = column.type;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, type->base, type->base_len, type->base_byval, type->base_align, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			values[i] = tde_datum_encrypt_given(type, values[i], column.typmod);
	}
	return PointerGetDatum(construct_md_array(values, nulls, ARR_NDIM(array), ARR_DIMS(array), ARR_LBOUND(array), type->oid, -1, false,
											  TYPALIGN_INT));
}

/* Returns a new value for a column.  A domain's conditions are looked at here, of NULL, too: whoever made the value has seen a base type. */
static Datum
encrypt_value(Form_pg_attribute attribute, Datum value, bool isnull)
{
	TdePlainColumn column;
	void	   *cached = NULL;

	/* a row that a language has made is of the type that the column has */
	if (tde_result_type(attribute->atttypid) == NULL)
		return value;
	column = tde_plain_column(attribute->atttypid, attribute->atttypmod);
	if (!isnull)
		value = column.is_array ? encrypt_array(column, DatumGetArrayTypeP(value)) : tde_datum_encrypt_given(column.type, value, column.typmod);
	if (getBaseType(attribute->atttypid) != attribute->atttypid)
		domain_check(value, isnull, attribute->atttypid, &cached, CurrentMemoryContext);
	return value;
}

HeapTuple
tde_plain_changed(HeapTuple row, TupleDesc rows, HeapTuple shown, HeapTuple changed, TupleDesc plain)
{
	Datum	   *before = palloc(rows->natts * sizeof(Datum));
	bool	   *before_nulls = palloc(rows->natts * sizeof(bool));
	Datum	   *after = palloc(rows->natts * sizeof(Datum));
	bool	   *after_nulls = palloc(rows->natts * sizeof(bool));
	bool	   *replaced = palloc0(rows->natts * sizeof(bool));

	heap_deform_tuple(shown, plain, before, before_nulls);
	heap_deform_tuple(changed, plain, after, after_nulls);
	for (int i = 0; i < rows->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(plain, i);

		if (attribute->attisdropped || (before_nulls[i] && after_nulls[i]))
			continue;
		replaced[i] = before_nulls[i] || after_nulls[i] || !datumIsEqual(before[i], after[i], attribute->attbyval, attribute->attlen);
		if (replaced[i])
			after[i] = encrypt_value(TupleDescAttr(rows, i), after[i], after_nulls[i]);
	}
	return heap_modify_tuple(row, rows, after, after_nulls, replaced);
}
