/*
 * kept_encrypted.c - what is declared over encrypted columns stays encrypted: stored generated columns, partition keys, and the columns of a
 * view that is replaced.
 *
 * PostgreSQL wants the expression of a generated column or a partition key IMMUTABLE, which decryption is not, and it wants it as the parser
 * makes it, before it has looked at any column.  So the expression is analyzed here, over the columns that the table is going to have; its
 * encrypted form (see operators/computed.h) is written back as what a user could have written: tde_computed(NULL::encrypted_text,
 * 'lower(text)', email).  Bounds of partitions become constants of the encrypted type.  Where there is no such form, PostgreSQL refuses it.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_target.h"
#include "parser/parse_type.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ddl/declared_type.h"
#include "ddl/kept_encrypted.h"
#include "ddl/new_expression.h"
#include "operators/computed.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "server/statement.h"
#include "type/inside.h"
#include "type/type.h"

/* ---- the columns that CREATE TABLE is going to have ---- */

/* Appends those of a table or composite type, which is closed; NULL: there is none, as PostgreSQL says itself. */
static List *
add_columns_of(List *columns, Relation rel)
{
	if (rel == NULL)
		return columns;
	columns = tde_new_columns_add_relation(columns, rel);
	relation_close(rel, AccessShareLock);
	return columns;
}

/* Opens a composite type, of CREATE TABLE ... OF. */
static Relation
open_type(TypeName *name)
{
	Oid			type = LookupTypeNameOid(NULL, name, true);
	Oid			composite = OidIsValid(type) ? get_typ_typrelid(type) : InvalidOid;

	return OidIsValid(composite) ? relation_open(composite, AccessShareLock) : NULL;
}

static Relation
open_table(RangeVar *table)
{
	return relation_openrv_extended(table, AccessShareLock, true);
}

/* Returns those of its type or its parents first, then its own and those of LIKE. */
static List *
columns_of(CreateStmt *stmt)
{
	List	   *columns = stmt->ofTypename ? add_columns_of(NIL, open_type(stmt->ofTypename)) : NIL;
	ListCell   *cell;

	foreach(cell, stmt->inhRelations)
		columns = add_columns_of(columns, open_table(lfirst_node(RangeVar, cell)));
	foreach(cell, stmt->tableElts)
		if (IsA(lfirst(cell), TableLikeClause))
			columns = add_columns_of(columns, open_table(((TableLikeClause *) lfirst(cell))->relation));
	return tde_new_columns_add(columns, stmt->tableElts);
}

/* ---- generated columns ---- */

/* PostgreSQL's own message says nothing of encryption.  column: one that the expression reads. */
static void
refuse(const char *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("generation expression is not immutable"),
			 errdetail("Column \"%s\" is encrypted, and decryption is not IMMUTABLE, so no generated column can be computed of its plaintext.",
					   column),
			 errhint("A generated column can have what PostgreSQL's own IMMUTABLE functions and operators make of encrypted columns: lower(name).  "
					 "A function of your own must take and return encrypted types.")));
}

/*
 * Returns what the column will hold, of the base type that was declared for it: PostgreSQL casts the expression as for an assignment.  A cast that
 * changes nothing but the type's name, varchar to text, is left out.
 */
static Node *
as_declared(ParseState *pstate, Node *expr, Oid type)
{
	TdeType    *encrypted = tde_type_find(type);
	Oid			base = encrypted ? encrypted->base : type;
	Node	   *cast = coerce_to_target_type(pstate, expr, exprType(expr), base, -1, COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);

	return cast && !IsA(cast, RelabelType) ? cast : expr;
}

/* Returns the encrypted column that comes first in an expression; NULL if there is none. */
static Var *
first_encrypted(Node *expr)
{
	ListCell   *cell;

	foreach(cell, pull_var_clause(expr, 0))
		if (tde_type_find(exprType(lfirst(cell))))
			return lfirst(cell);
	return NULL;
}

/* Declared as a plain column, it gets the specification and the key of the one that it is computed of.  source may be NULL: then it stays plain. */
static void
declare_encrypted(ColumnDef *def, Oid type, int32 typmod, Var *source, List *columns)
{
	const char *wanted = format_type_with_typemod(type, typmod);

	if (source == NULL || !tde_declared_like(source->vartype, source->vartypmod, &type, &typmod))
		return;
	ereport(NOTICE,
			(errmsg("column \"%s\" has type %s instead of %s", def->colname, format_type_with_typemod(type, typmod), wanted),
			 errdetail("It is generated of column \"%s\", which is encrypted.",
					   ((TargetEntry *) list_nth(columns, source->varattno - 1))->resname)));
	def->typeName = makeTypeNameFromOid(type, typmod);
}

/*
 * Puts the expression into a form that stays encrypted, here and in the statement.  If it has none, it is refused, unless it is IMMUTABLE as it is:
 * then this returns false, and tde_guard_relation() refuses afterwards what would be stored in clear.
 */
static bool
encrypt_expression(Constraint *constraint, ParseState *pstate, Node **expr, Oid type, TdeReadColumns *read)
{
	Node	   *form;
	Node	   *raw;

	*expr = as_declared(pstate, *expr, type);
	assign_expr_collations(pstate, *expr);
	form = tde_form_encrypted(*expr);
	raw = form ? tde_new_raw_form(form, read->columns) : NULL;
	if (contain_mutable_functions(raw ? form : *expr))
		refuse(read->encrypted);
	if (raw == NULL)
		return false;
	constraint->raw_expr = raw;
	*expr = form;
	return true;
}

/* A column is merged with that of its parents, which has become encrypted when it was declared as this one is now. */
static void
like_parents(ColumnDef *def, TargetEntry *declared)
{
	Oid			type = exprType((Node *) declared->expr);
	int32		typmod = exprTypmod((Node *) declared->expr);
	Oid			own;
	int32		own_typmod;

	if (TDE_PLAINTEXT_ALTER != TDE_ALTER_KEEP || def->typeName == NULL || !tde_type_find(type) || !tde_declared_type(def, &own, &own_typmod) ||
		!tde_declared_like(type, typmod, &own, &own_typmod) || own != type || own_typmod != typmod)
		return;
	ereport(NOTICE,
			(errmsg("column \"%s\" has type %s", def->colname, format_type_with_typemod(type, typmod)),
			 errdetail("It is merged with a parent's column, which is encrypted.")));
	def->typeName = makeTypeNameFromOid(type, typmod);
}

/*
 * Looks at one generated column: domain text GENERATED ALWAYS AS (split_part(email, '@', 2)) STORED, of an encrypted email.  Expressions that read no
 * encrypted column, or something that is no column of the table, are left alone.
 */
static void
encrypt_column(ColumnDef *def, Constraint *constraint, List *columns, ParseState *pstate)
{
	TdeReadColumns read = {columns, NULL};
	TargetEntry *declared = tde_new_column(columns, def->colname);
	Node	   *expr;
	Oid			type;

	if (tde_new_reads_others(constraint->raw_expr, &read) || read.encrypted == NULL || declared == NULL)
		return;
	type = exprType((Node *) declared->expr);
	like_parents(def, declared);
	if (!tde_type_find(type) && TDE_PLAINTEXT_ALTER != TDE_ALTER_KEEP)
		return;
	expr = transformExpr(pstate, copyObject(constraint->raw_expr), EXPR_KIND_GENERATED_COLUMN);
	/* one that is encrypted as it is, may encrypt within: coalesce(n, 0) of a numeric */
	if (((tde_type_find(exprType(expr)) && !contain_mutable_functions(expr)) || encrypt_expression(constraint, pstate, &expr, type, &read)) &&
		!tde_type_find(type))
		declare_encrypted(def, type, exprTypmod((Node *) declared->expr), first_encrypted(expr), columns);
}

/* Returns the constraint that generates a column; NULL if it is not generated, or computed when it is read. */
static Constraint *
find_generation(ColumnDef *def)
{
	ListCell   *cell;

	foreach(cell, def->constraints)
	{
		Constraint *constraint = lfirst(cell);

		if (constraint->contype == CONSTR_GENERATED && constraint->raw_expr && TDE_IS_STORED(constraint))
			return constraint;
	}
	return NULL;
}

/* Returns the new columns that are generated. */
static List *
generated(List *defs)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, defs)
		if (IsA(lfirst(cell), ColumnDef) && find_generation(lfirst(cell)))
			found = lappend(found, lfirst(cell));
	return found;
}

/* columns: all that the table is going to have.  generated: those to look at. */
static void
encrypt_columns(List *columns, List *generated, const RangeVar *table, const char *source)
{
	/* one for all: it is as large as the table */
	ParseState *pstate = tde_new_parse_state(columns, table->relname, source);
	ListCell   *cell;

	foreach(cell, generated)
		encrypt_column(lfirst(cell), find_generation(lfirst(cell)), columns, pstate);
	free_parsestate(pstate);
}

void
tde_kept_generated_create(CreateStmt *stmt, const char *source)
{
	List	   *found = generated(stmt->tableElts);

	if (found)
		encrypt_columns(columns_of(stmt), found, stmt->relation, source);
}

/* Returns the columns as ALTER TABLE will leave them: with their new types, and those that it adds, also in the place of one that it drops. */
static List *
columns_after(const TdeAlterTable *alter)
{
	List	   *columns = NIL;
	ListCell   *cell;

	foreach(cell, alter->stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, cell);
		ColumnDef  *def;

		if (cmd->subtype != AT_AlterColumnType || get_attnum(RelationGetRelid(alter->rel), cmd->name) <= 0)
			continue;
		def = copyObject((ColumnDef *) cmd->def);
		def->colname = cmd->name;
		columns = tde_new_columns_add(columns, list_make1(def));
	}
	return tde_new_columns_add_relation(tde_new_columns_add(columns, alter->added), alter->rel);
}

void
tde_kept_generated_alter(const TdeAlterTable *alter)
{
	List	   *found = generated(alter->added);

	if (found)
		encrypt_columns(columns_after(alter), found, alter->stmt->relation, alter->source);
}

/* ---- partition keys ---- */

/*
 * Returns the key's expression, analyzed; NULL if it reads no encrypted column.  What it has in a form that stays encrypted is put into the
 * statement: PARTITION BY HASH (lower(email)).
 */
static Node *
keep_encrypted(PartitionElem *element, List *columns, const char *table, const char *source)
{
	TdeReadColumns read = {columns, NULL};
	ParseState *pstate;
	Node	   *expr;
	Node	   *form;
	Node	   *raw;

	if (tde_new_reads_others(element->expr, &read) || read.encrypted == NULL)
		return NULL;
	pstate = tde_new_parse_state(columns, table, source);
	expr = transformExpr(pstate, copyObject(element->expr), EXPR_KIND_PARTITION_EXPRESSION);
	assign_expr_collations(pstate, expr);
	free_parsestate(pstate);
	form = contain_mutable_functions(expr) ? tde_form_encrypted(expr) : NULL;
	raw = form && tde_type_find(exprType(form)) && !contain_mutable_functions(form) ? tde_new_raw_form(form, columns) : NULL;
	if (raw == NULL)
		return expr;
	element->expr = raw;
	return form;
}

/* Returns the type of a part of the key, a column or an expression; InvalidOid if there is no such column. */
static Oid
key_type(PartitionElem *element, Node *expr, List *columns)
{
	TargetEntry *column = element->name ? tde_new_column(columns, element->name) : NULL;

	if (column)
		expr = (Node *) column->expr;
	return expr ? exprType(expr) : InvalidOid;
}

void
tde_kept_partition_key(CreateStmt *stmt, const char *source)
{
	List	   *columns = NIL;
	ListCell   *cell;

	if (stmt->partspec == NULL)
		return;
	foreach(cell, stmt->partspec->partParams)
	{
		PartitionElem *element = lfirst_node(PartitionElem, cell);
		Node	   *expr;
		TdeType    *type;

		if (element->expr == NULL && element->opclass == NIL)
			continue;
		if (columns == NIL)
			columns = columns_of(stmt);
		expr = element->expr ? keep_encrypted(element, columns, stmt->relation->relname, source) : NULL;
		type = element->opclass ? tde_type_find(key_type(element, expr, columns)) : NULL;

		if (type)
			element->opclass = tde_opclass_adopted(type, TDE_PARTITION_METHOD(stmt->partspec), element->opclass);
	}
}

/*
 * ---- views ----
 *
 * PostgreSQL wants the new query of CREATE OR REPLACE VIEW, or of a rule "_RETURN", to have the types of the view's columns.  An expression that took the place of a
 * plain column, upper(a) for a, would have the same type; of an encrypted column it is of the plain type, and gets a cast, as the user could
 * have written it.  A table's column gets none: nobody could write through the view any more, and would find out only then.
 */

/* Returns true for a table's column, through which the view may be written. */
static bool
is_column_of_table(Node *expr, Query *query)
{
	return IsA(expr, Var) && rt_fetch(((Var *) expr)->varno, query->rtable)->rtekind == RTE_RELATION;
}

/*
 * Casts one column of the new query to what the view has.  A column that is sorted, grouped or compared with other queries' columns stays as it is,
 * since the operators were chosen for its type.
 */
static void
fit_column(ParseState *pstate, Query *query, TargetEntry *column, Form_pg_attribute wanted)
{
	Node	   *expr = (Node *) column->expr;
	Node	   *cast;

	if (column->ressortgroupref != 0 || !tde_type_holds_encrypted(wanted->atttypid) || is_column_of_table(expr, query) ||
		!tde_inside_differs(exprType(expr), exprTypmod(expr), wanted->atttypid, wanted->atttypmod))
		return;
	cast = coerce_to_target_type(pstate, expr, exprType(expr), wanted->atttypid, wanted->atttypmod, COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);
	if (cast == NULL)
		return;
	assign_expr_collations(pstate, cast);
	column->expr = (Expr *) cast;
}

void
tde_kept_view_columns(ParseState *pstate, Query *query)
{
	ViewStmt   *stmt = (ViewStmt *) tde_statement.utility;
	Oid			existing = InvalidOid;
	Relation	view;
	ListCell   *cell;

	if (!IsA(stmt, ViewStmt) || !stmt->replace || query->commandType != CMD_SELECT || query->setOperations)
		return;
	/* as PostgreSQL looks for it next, with the same errors */
	(void) RangeVarGetAndCheckCreationNamespace(copyObject(stmt->view), AccessShareLock, &existing);
	view = OidIsValid(existing) ? relation_open(existing, NoLock) : NULL;
	if (view == NULL)
		return;
	foreach(cell, query->targetList)
	{
		TargetEntry *column = lfirst(cell);

		if (!column->resjunk && column->resno <= RelationGetNumberOfAttributes(view))
			fit_column(pstate, query, column, TupleDescAttr(RelationGetDescr(view), column->resno - 1));
	}
	relation_close(view, NoLock);
}

/* Returns true for t.* and (row).*, which may be any number of columns: those after it cannot be told by their place. */
static bool
is_star(Node *raw)
{
	List	   *fields = IsA(raw, ColumnRef) ? ((ColumnRef *) raw)->fields : IsA(raw, A_Indirection) ? ((A_Indirection *) raw)->indirection : NIL;

	return fields && IsA(llast(fields), A_Star);
}

/* number: of the view's column.  A bare column is left alone here, too: whether it is a table's is not known before it is analyzed. */
static Node *
fit_raw(Node *raw, Oid view, AttrNumber number)
{
	TypeCast   *cast = makeNode(TypeCast);
	Oid			type;
	int32		typmod;
	Oid			collation;

	if (IsA(raw, ColumnRef) || get_attname(view, number, true) == NULL)
		return raw;
	get_atttypetypmodcoll(view, number, &type, &typmod, &collation);
	if (!OidIsValid(type) || !tde_type_holds_encrypted(type))
		return raw;
	cast->arg = raw;
	cast->typeName = makeTypeNameFromOid(type, typmod);
	cast->location = -1;
	return (Node *) cast;
}

/* PostgreSQL calls no hook when it has analyzed a rule's query, so that the casts stand in what is parsed. */
void
tde_kept_view_rule(RuleStmt *rule)
{
	SelectStmt *query = rule->event == CMD_SELECT && list_length(rule->actions) == 1 ? linitial(rule->actions) : NULL;
	Oid			view = query ? RangeVarGetRelid(rule->relation, NoLock, true) : InvalidOid;
	ListCell   *cell;

	if (!OidIsValid(view) || !TDE_OWNS_RELATION(view) || !IsA(query, SelectStmt) || query->op != SETOP_NONE || query->distinctClause || query->sortClause || query->groupClause)
		return;
	foreach(cell, query->targetList)
	{
		ResTarget  *column = lfirst(cell);

		if (is_star(column->val))
			return;
		/* by what is written: a cast to a type that has no name gives none */
		if (column->name == NULL)
			column->name = FigureColname(column->val);
		column->val = fit_raw(column->val, view, foreach_current_index(cell) + 1);
	}
}
