/*
 * constants.c - whose code could run when an expression's text is read again, and what a default means as a literal.
 *
 * A literal is read by the input function of its type.  That of an array calls that of its elements, that of a domain evaluates the
 * domain's CHECKs, that of a range its function canonical.  And a text names its types: between printing and reading another type may
 * get the name, from the owner of the type, or of its schema.
 *
 * tde_encrypt_column() and its like make what belongs to a column again from its text, with the rights of the owner.  These functions tell what must
 * not be read so, and find the defaults that can be.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/transam.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "conversion/stored_trees.h"
#include "maintenance/owner.h"
#include "server/compat.h"
#include "type/core.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_conversion_foreign_constant);
PG_FUNCTION_INFO_V1(tde_conversion_constant_default);

/* ---- whose code an input function runs ---- */

static bool reads_alone(Oid type, Oid role);

/* Returns true if nobody but them could give one of its types' names to another type. */
static bool
is_trusted_schema(Oid schema, Oid role)
{
	Oid			owner = GetSysCacheOid1(NAMESPACEOID, Anum_pg_namespace_nspowner, ObjectIdGetDatum(schema));

	if (owner == ROLE_PG_DATABASE_OWNER)
		owner = GetSysCacheOid1(DATABASEOID, Anum_pg_database_datdba, ObjectIdGetDatum(MyDatabaseId));
	return OidIsValid(owner) && tde_owner_is_trusted(owner, role);
}

static bool
is_trusted_function(Oid function, Oid role)
{
	Oid			owner = GetSysCacheOid1(PROCOID, Anum_pg_proc_proowner, ObjectIdGetDatum(function));

	return function < FirstUnpinnedObjectId || (OidIsValid(owner) && tde_owner_is_trusted(owner, role));
}

static bool
fields_read_alone(Oid type, Oid role)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
	bool		result = true;

	for (int i = 0; result && i < desc->natts; i++)
		result = TupleDescAttr(desc, i)->attisdropped || reads_alone(TupleDescAttr(desc, i)->atttypid, role);
	ReleaseTupleDesc(desc);
	return result;
}

/* Returns true of a range whose canonical function and bounds run no code of others; no such function is none of others. */
static bool
range_reads_alone(Oid type, Oid role)
{
	HeapTuple	tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(type));
	Form_pg_range range;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	range = (Form_pg_range) GETSTRUCT(tuple);
	result = is_trusted_function(range->rngcanonical, role) && reads_alone(range->rngsubtype, role);
	ReleaseSysCache(tuple);
	return result;
}

/* Returns true if what the input function of the type calls runs no code of others, by the sort of type. */
static bool
parts_read_alone(Oid oid, Form_pg_type type, Oid role)
{
	switch (type->typtype)
	{
		case TYPTYPE_ENUM:
			return true;
		case TYPTYPE_BASE:
			return is_trusted_function(type->typinput, role);
		case TYPTYPE_DOMAIN:
			return reads_alone(type->typbasetype, role);
		case TYPTYPE_COMPOSITE:
			return fields_read_alone(oid, role);
		case TYPTYPE_RANGE:
			return range_reads_alone(oid, role);
		case TYPTYPE_MULTIRANGE:
			return range_reads_alone(get_multirange_range(oid), role);
		default:
			return false;
	}
}

/*
 * Returns true if a literal of this type runs no code but PostgreSQL's, this extension's, superusers' and the role's own.  The literal of a
 * function's argument that takes any type is of none: which function its text finds, and of which type it is then, anybody may change.
 */
static bool
reads_alone(Oid oid, Oid role)
{
	TdeType    *encrypted;
	HeapTuple	tuple;
	Form_pg_type type;
	bool		result;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (oid < FirstUnpinnedObjectId)
		return oid != UNKNOWNOID;
	encrypted = tde_type_find(oid);
	if (encrypted)
		return reads_alone(encrypted->base, role);
	if (OidIsValid(get_element_type(oid)))
		return reads_alone(get_element_type(oid), role);
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(oid));
	if (!HeapTupleIsValid(tuple))
		return false;
	type = (Form_pg_type) GETSTRUCT(tuple);
	result = tde_owner_is_trusted(type->typowner, role) && is_trusted_schema(type->typnamespace, role) && parts_read_alone(oid, type, role);
	ReleaseSysCache(tuple);
	return result;
}

/* Whose reading is meant, and the first type that speaks against it. */
typedef struct Search
{
	Oid			role;
	Oid			found;
} Search;

/* A query_or_expression_tree_walker. */
static bool
find_foreign_constant(Node *node, void *context)
{
	Search	   *search = context;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, Const) && !reads_alone(((Const *) node)->consttype, search->role))
	{
		search->found = ((Const *) node)->consttype;
		return true;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_foreign_constant, context, 0);
	return expression_tree_walker(node, find_foreign_constant, context);
}

/*
 * tde_foreign_constant(class regclass, object oid, role oid) - the type of a constant in the object's expressions, which could not be
 * read by this role without running what belongs to others than itself and superusers; NULL if there is none
 */
Datum
tde_conversion_foreign_constant(PG_FUNCTION_ARGS)
{
	Search		search = {.role = PG_GETARG_OID(2)};

	if (!find_foreign_constant((Node *) tde_stored_trees(PG_GETARG_OID(0), PG_GETARG_OID(1)), &search))
		PG_RETURN_NULL();
	PG_RETURN_OID(search.found);
}

/* ---- defaults ---- */

/* Returns the default of a column, as it is stored; NULL if it has none, or is generated. */
static Node *
stored_default(Relation rel, AttrNumber column)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	if (column <= 0 || column > RelationGetDescr(rel)->natts || TupleDescAttr(RelationGetDescr(rel), column - 1)->attgenerated != '\0')
		return NULL;
	for (int i = 0; constr && i < constr->num_defval; i++)
		if (constr->defval[i].adnum == column)
			return stringToNode(constr->defval[i].adbin);
	return NULL;
}

/*
 * Returns true of a constant below casts of PostgreSQL's own, which may round or cut off.  One that is not immutable may have another result
 * tomorrow, as that of date to timestamptz.
 */
static bool
is_plain_constant(Node *node)
{
	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (IsA(node, RelabelType))
		return is_plain_constant((Node *) ((RelabelType *) node)->arg);
	if (IsA(node, FuncExpr))
	{
		FuncExpr   *call = (FuncExpr *) node;
		ListCell   *arg;

		if (call->funcid >= FirstUnpinnedObjectId || func_volatile(call->funcid) != PROVOLATILE_IMMUTABLE)
			return false;
		foreach(arg, call->args)
			if (!is_plain_constant(lfirst(arg)))
				return false;
		return true;
	}
	return IsA(node, Const);
}

/* Returns the constant that the expression is; NULL if it is none.  It is called as the table's owner. */
static Const *
plain_constant(Node *node)
{
	if (!is_plain_constant(node))
		return NULL;
	node = eval_const_expressions(NULL, node);
	return IsA(node, Const) ? (Const *) node : NULL;
}

static bool
is_cast_of_ours(FuncExpr *call)
{
	return (call->funcformat == COERCE_IMPLICIT_CAST || (call->funcformat == COERCE_EXPLICIT_CAST && exprTypmod((Node *) call) == -1)) &&
		tde_core_is_member(ProcedureRelationId, call->funcid);
}

/* Returns the constant from which casts of ours make a value of the column, which is encrypted; NULL: there is none. */
static Const *
encrypted_constant(Node *node)
{
	for (;;)
	{
		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, FuncExpr) && is_cast_of_ours((FuncExpr *) node))
			node = linitial(((FuncExpr *) node)->args);
		else if (IsA(node, ArrayCoerceExpr) && ((ArrayCoerceExpr *) node)->coerceformat == COERCE_IMPLICIT_CAST)
			node = (Node *) ((ArrayCoerceExpr *) node)->arg;
		else
			return IsA(node, Const) ? (Const *) node : NULL;
	}
}

static char *
literal(const Const *constant)
{
	Oid			output;
	bool		is_varlena;

	if (constant == NULL || constant->constisnull)
		return NULL;
	getTypeOutputInfo(constant->consttype, &output, &is_varlena);
	return quote_literal_cstr(OidOutputFunctionCall(output, constant->constvalue));
}

static bool
is_encrypted_constant(Oid type)
{
	Oid			element = get_element_type(type);

	return tde_type_find(OidIsValid(element) ? element : type) != NULL;
}

/*
 * tde_constant_default(relation oid, column_number int2) - a column's default as a literal without a type, since a constant of the old type
 * would stay one: in clear, or under a key.  NULL if it is none or no constant, or if the caller does not own the relation.
 */
Datum
tde_conversion_constant_default(PG_FUNCTION_ARGS)
{
	Relation	rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	AttrNumber	column = PG_GETARG_INT16(1);
	Node	   *node;
	TdeCaller	caller;
	char	   *result = NULL;

	if (rel == NULL)
		PG_RETURN_NULL();
	if (TDE_OWNS_RELATION(RelationGetRelid(rel)) && (node = stored_default(rel, column)) != NULL)
	{
		tde_owner_begin(&caller, rel);
		result = literal(is_encrypted_constant(TupleDescAttr(RelationGetDescr(rel), column - 1)->atttypid) ?
						 encrypted_constant(node) : plain_constant(node));
		tde_owner_end(&caller);
	}
	relation_close(rel, AccessShareLock);
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(result));
}
