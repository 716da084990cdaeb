/*
 * blind_class.c - operator classes of GIN for encrypted types, and those of the base types that they stand for.
 *
 * The family of such a class has two sorts of members: ours, for the encrypted type, and beside them the support functions and operators of
 * the base type's class, under the base type.  So what a class stands for is said by OIDs, in dumps and after pg_upgrade as well, PostgreSQL
 * knows what depends on whom, and amvalidate() has nothing against it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/gin.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "operators/blind_class.h"
#include "server/compat.h"
#include "type/base_functions.h"
#include "type/inside.h"

/* ---- who uses a function ---- */

/*
 * An object of this catalog that depends on a function: the member of a family, or the operator; InvalidOid if there is none.  pg_depend is asked,
 * since neither pg_amproc nor pg_operator has an index by function.
 */
static Oid
find_user(Oid function, Oid catalog)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			user = InvalidOid;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(ProcedureRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(function));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, lengthof(keys), keys);
	while (!OidIsValid(user) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		if (((Form_pg_depend) GETSTRUCT(tuple))->classid == catalog)
			user = ((Form_pg_depend) GETSTRUCT(tuple))->objid;
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return user;
}

/*
 * Members of a family can be dropped one by one.  Then nothing tells any more what a function of ours stands for, and guessing might find other rows.
 */
pg_noreturn static void
incomplete(Oid function)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("function %s belongs to no operator class that is complete", format_procedure(function)),
			 errhint("Make the class again by tde_create_gin_class(), and the indexes.")));
}

/* ---- support functions ---- */

/* The family that a support function is a member of; ereport if it is of none.  A function of ours is in one family only, by its name. */
static Oid
family_of(Oid function)
{
	Oid			member = find_user(function, AccessMethodProcedureRelationId);
	Relation	catalog = table_open(AccessMethodProcedureRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			family = InvalidOid;

	ScanKeyInit(&key, Anum_pg_amproc_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(member));
	scan = systable_beginscan(catalog, AccessMethodProcedureOidIndexId, true, NULL, 1, &key);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		family = ((Form_pg_amproc) GETSTRUCT(tuple))->amprocfamily;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	if (!OidIsValid(family))
		incomplete(function);
	return family;
}

/* The types that a family has support functions for: the encrypted one, or an array of it, and the base class's.  InvalidOid: it has none. */
static void
types_of(Oid family, Oid *encrypted, Oid *base)
{
	CatCList   *members = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));

	*encrypted = *base = InvalidOid;
	for (int i = 0; i < members->n_members; i++)
	{
		Form_pg_amproc member = (Form_pg_amproc) GETSTRUCT(&members->members[i]->tuple);

		if (member->amprocnum == GIN_EXTRACTVALUE_PROC)
			*(tde_type_holds_encrypted(member->amproclefttype) ? encrypted : base) = member->amproclefttype;
	}
	ReleaseSysCacheList(members);
}

/* A support function of the base type's class, by its number; NULL if that class has none. */
static FmgrInfo *
base_support(Oid family, Oid base, int16 number)
{
	Oid			function = get_opfamily_proc(family, base, base, number);

	return OidIsValid(function) ? tde_type_function(function) : NULL;
}

/*
 * How entries are told apart.  A class that has a comparison of its own says by its argument of what type they are, and compares bytes; one
 * that has none, of arrays, compares as the elements' type does.
 */
static void
resolve_entries(TdeBlindClass *class, Oid family, Oid base)
{
	Oid			compare = get_opfamily_proc(family, base, base, GIN_COMPARE_PROC);
	Oid			entry = class->type->base;

	if (OidIsValid(compare))
	{
		Oid		   *types;
		int			count;

		(void) get_func_signature(compare, &types, &count);
		entry = types[0];
		class->collation = C_COLLATION_OID;
	}
	class->hash = tde_base_extended_hash(entry);
	get_typlenbyval(entry, &class->entry_len, &class->entry_byval);
}

TdeBlindClass *
tde_blind_class(TdeProc *proc)
{
	uint64		epoch = tde_functions_epoch;
	TdeBlindClass class = {0};
	Oid			family;
	Oid			type;
	Oid			base;
	Oid			element;

	if (tde_is_resolved(proc))
		return proc->blind;
	family = family_of(proc->oid);
	types_of(family, &type, &base);
	if (!OidIsValid(type) || !OidIsValid(base))
		incomplete(proc->oid);
	element = get_element_type(type);
	class.is_array = OidIsValid(element);
	class.type = tde_type_get(class.is_array ? element : type);
	class.extract_value = base_support(family, base, GIN_EXTRACTVALUE_PROC);
	class.extract_query = base_support(family, base, GIN_EXTRACTQUERY_PROC);
	class.consistent = base_support(family, base, GIN_CONSISTENT_PROC);
	class.triconsistent = base_support(family, base, GIN_TRICONSISTENT_PROC);
	if (class.extract_value == NULL || class.extract_query == NULL || (class.consistent == NULL && class.triconsistent == NULL))
		incomplete(proc->oid);
	resolve_entries(&class, family, base);
	proc->blind = tde_base_keep(proc->blind, &class, sizeof(class));
	proc->resolved = epoch;
	return proc->blind;
}

/* ---- operators ---- */

/*
 * What a family of ours has beside an operator, of its other type: for jsonb @> jsonb the operator encrypted_jsonb @> jsonb, and the other way round.
 * InvalidOid: it has none, or the family is another one.
 */
static Oid
counterpart(const FormData_pg_amop *member, Oid *encrypted)
{
	Oid			base;

	if (member->amopmethod != GIN_AM_OID)
		return InvalidOid;
	types_of(member->amopfamily, encrypted, &base);
	if (!OidIsValid(*encrypted) || !OidIsValid(base))
		return InvalidOid;
	return get_opfamily_member(member->amopfamily, member->amoplefttype == *encrypted ? base : *encrypted, member->amoprighttype, member->amopstrategy);
}

/* The counterpart in any family that the operator is in; of this encrypted type, if one is given. */
static Oid
find_counterpart(Oid operator, Oid type)
{
	CatCList   *members = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator));
	Oid			found = InvalidOid;

	for (int i = 0; i < members->n_members && !OidIsValid(found); i++)
	{
		Oid			encrypted = InvalidOid;
		Oid			other = counterpart((Form_pg_amop) GETSTRUCT(&members->members[i]->tuple), &encrypted);

		if (!OidIsValid(type) || encrypted == type)
			found = other;
	}
	ReleaseSysCacheList(members);
	return found;
}

Oid
tde_blind_operator_for(Oid base, Oid type)
{
	return find_counterpart(base, type);
}

FmgrInfo *
tde_blind_operator(TdeProc *proc)
{
	uint64		epoch = tde_functions_epoch;
	Oid			operator;
	Oid			base;

	if (tde_is_resolved(proc))
		return proc->base_function;
	operator = find_user(proc->oid, OperatorRelationId);
	base = OidIsValid(operator) ? find_counterpart(operator, InvalidOid) : InvalidOid;
	if (!OidIsValid(base))
		incomplete(proc->oid);
	proc->base_function = tde_type_function(get_opcode(base));
	proc->resolved = epoch;
	return proc->base_function;
}

/* ---- classes ---- */

/* The class for this type that makes entries of this one by the same function as a family does, and is not of that family. */
static Oid
find_class(Oid type, Oid base, Oid family)
{
	Oid			function = get_opfamily_proc(family, base, base, GIN_EXTRACTVALUE_PROC);
	CatCList   *classes = SearchSysCacheList1(CLAAMNAMENSP, ObjectIdGetDatum(GIN_AM_OID));
	Oid			found = InvalidOid;

	for (int i = 0; i < classes->n_members && !OidIsValid(found); i++)
	{
		Form_pg_opclass class = (Form_pg_opclass) GETSTRUCT(&classes->members[i]->tuple);

		if (class->opcintype == type && class->opcfamily != family &&
			get_opfamily_proc(class->opcfamily, base, base, GIN_EXTRACTVALUE_PROC) == function)
			found = class->oid;
	}
	ReleaseSysCacheList(classes);
	return found;
}

Oid
tde_blind_class_for(Oid type, Oid named)
{
	return find_class(type, get_opclass_input_type(named), get_opclass_family(named));
}

Oid
tde_blind_base_class(Oid opclass)
{
	Oid			encrypted;
	Oid			base;

	types_of(get_opclass_family(opclass), &encrypted, &base);
	return find_class(base, base, get_opclass_family(opclass));
}

bool
tde_blind_serves(Oid type)
{
	CatCList   *classes = SearchSysCacheList1(CLAAMNAMENSP, ObjectIdGetDatum(GIN_AM_OID));
	bool		serves = false;

	for (int i = 0; i < classes->n_members && !serves; i++)
		serves = ((Form_pg_opclass) GETSTRUCT(&classes->members[i]->tuple))->opcintype == type;
	ReleaseSysCacheList(classes);
	return serves;
}
