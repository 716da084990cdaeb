/*
 * computed_form.c - an expression of encrypted columns as one whose result is encrypted, too: tde_computed() of PostgreSQL's function.
 *
 * The same expression always gets the same form: one is in an index, the other in a query that is to use it.
 *
 * It is made from the leaves up: look_at() asks forms_of() for a node, that asks for its parts, and each tells three things (Forms).  Without those a
 * node of n calls inside each other would be looked at 2^n times.  Collations come last, by the parser's own rules, since the forms of parts are put
 * together in several ways.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

#include "operators/computed.h"
#include "operators/computed_call.h"
#include "operators/computed_choice.h"
#include "server/compat.h"
#include "type/cast.h"
#include "type/inside.h"
#include "type/type.h"

/* ---- what is decrypted for it ---- */

/*
 * Returns true if a cast gives the same at all times.  Through text, dates do not: what they look like depends on DateStyle, and an index would hold
 * what only one setting gives.
 */
static bool
cast_is_immutable(Oid source, Oid target)
{
	CaseTestExpr *value = makeNode(CaseTestExpr);
	Node	   *cast;

	value->typeId = source;
	value->typeMod = -1;
	value->collation = get_typcollation(source);
	cast = coerce_to_target_type(NULL, (Node *) value, source, target, -1, COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);
	return cast != NULL && !contain_mutable_functions(cast);
}

/* Returns what a cast decrypts: name in name::text; NULL if it is none that does. */
static Node *
decrypted(Node *node)
{
	Node	   *arg = NULL;

	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->args != NIL)
		arg = linitial(((FuncExpr *) node)->args);
	else if (IsA(node, CoerceViaIO))
		arg = (Node *) ((CoerceViaIO *) node)->arg;
	if (arg == NULL || tde_type_find(exprType(arg)) == NULL)
		return NULL;
	return IsA(node, CoerceViaIO) || tde_cast_is_decryption(((FuncExpr *) node)->funcid) ? arg : NULL;
}

/* A varchar as it stands for text: itself; NULL if it is something else. */
static Node *
relabelled_varchar(Node *node)
{
	RelabelType *relabel = (RelabelType *) node;

	return IsA(node, RelabelType) && relabel->resulttype == TEXTOID && exprType((Node *) relabel->arg) == VARCHAROID ? (Node *) relabel->arg : NULL;
}

/* ---- the form ---- */

/*
 * The encrypted form of a part.  What is known of it is kept beside it, so that nobody has to look into it again: there may be thousands of calls
 * inside each other.
 */
typedef struct Form
{
	Node	   *expr;			/* NULL: there is none */
	TdeType    *type;			/* NULL: it is not encrypted */
	int32		typmod;
	Node	   *model;			/* of the same specification and key, and small: a plain alternative is encrypted like it */
} Form;

/* Of one node: each is looked at once, and so are its parts. */
typedef struct Forms
{
	Form		decrypted;		/* what it decrypts itself */
	Form		cast;			/* what is cast to its type, encrypted, if the cast always gives the same */
	Form		whole;			/* it itself, encrypted */
} Forms;

/* Where parts of what was looked at are looked at again, by others than itself. */
typedef struct Remembered
{
	Node	   *node;			/* the key */
	Forms		forms;
} Remembered;

static Forms look_at(Node *node, HTAB *remembered);

/* The form of an expression that stays as it is: a column, or a plain value, of which the type is NULL. */
static Form
form_of(Node *expr)
{
	Form		form = {expr, tde_type_find(exprType(expr)), -1};

	if (form.type == NULL)
		return form;
	form.typmod = tde_computed_typmod_of(expr);
	form.model = IsA(expr, Var) ? expr : (Node *) makeNullConst(form.type->oid, form.typmod, get_typcollation(form.type->oid));
	return form;
}

/*
 * Makes a call of tde_computed() for a function, InvalidOid for a cast alone, whose result is encrypted as another form is.  The result's expr is
 * NULL where that one is plain, or its modifiers do not suit the type.
 */
static Form
make_form(TdeType *type, Oid function, List *args, const Form *like)
{
	Form		form = {NULL, type, -1, like->model};
	Node	   *result;
	Node	   *called;

	if (like->type)
		form.typmod = tde_computed_unsalted(type, like->type, like->typmod);
	if (form.typmod < 0 || !OidIsValid(tde_computed_function()))
		return form;
	result = (Node *) makeNullConst(type->oid, form.typmod, get_typcollation(type->oid));
	called = (Node *) makeConst(REGPROCEDUREOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(function), false, true);
	form.expr = (Node *) makeFuncExpr(tde_computed_function(), type->oid, lcons(result, lcons(called, args)), InvalidOid, InvalidOid,
									  COERCE_EXPLICIT_CALL);
	return form;
}

/* An argument as tde_computed() takes it: encrypted, if it is one way or another. */
static Form
argument_form(Node *node, HTAB *remembered)
{
	Forms		forms;
	Form		form;
	CollateExpr *collate;

	if (!IsA(node, CollateExpr))
	{
		forms = look_at(node, remembered);
		return forms.cast.expr ? forms.cast : forms.whole.expr ? forms.whole : form_of(node);
	}
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	form = argument_form((Node *) ((CollateExpr *) node)->arg, remembered);
	collate = makeNode(CollateExpr);
	*collate = *(CollateExpr *) node;
	collate->arg = (Expr *) form.expr;
	form.expr = (Node *) collate;
	return form;
}

/* Returns true if the cast changes nothing that the encrypted type compares. */
static bool
is_same(Node *arg, Oid type)
{
	Oid			base = tde_computed_base_type(arg);

	return base == type || (base == VARCHAROID && type == TEXTOID);
}

bool
tde_form_is_possible(Node *expr)
{
	return IsA(expr, FuncExpr) || IsA(expr, OpExpr) || IsA(expr, CoerceViaIO) || IsA(expr, RelabelType) || tde_is_choice(expr);
}

/*
 * What a cast encrypts, to the type of the others: 0 in coalesce(price, 0).  The node itself, if it is no such cast.  A cast with modifiers says
 * itself how to encrypt, and stays.
 */
static Node *
before_encryption(Node *node)
{
	bool		encryption = IsA(node, FuncExpr) && exprTypmod(node) < 0 && tde_cast_is_encryption(((FuncExpr *) node)->funcid);

	return encryption ? linitial(((FuncExpr *) node)->args) : node;
}

/* An alternative in the type of all, a plain one encrypted as the model is. */
static Form
alternative_form(TdeType *type, const Form *alternative, const Form *like)
{
	Form		none = {NULL};
	List	   *args = list_make1(alternative->expr);

	if (alternative->type == type)
		return *alternative;
	/* that of CASE without ELSE */
	if (IsA(alternative->expr, Const) && ((Const *) alternative->expr)->constisnull)
		return (Form) {(Node *) makeNullConst(type->oid, -1, get_typcollation(type->oid)), type, -1};
	if (!cast_is_immutable(tde_computed_base_type(alternative->expr), type->base))
		return none;
	return alternative->type ? make_form(type, InvalidOid, args, alternative) :
		make_form(type, InvalidOid, lappend(args, copyObject(like->model)), like);
}

/*
 * The form of a choice.  COALESCE(price, 0) is written as a plain one of what is decrypted, or as an encrypted one of what is encrypted anew each
 * time.  Either way its alternatives are brought to the first encrypted one's specification.
 */
static Form
choice_form(TdeType *type, Node *choice, HTAB *remembered)
{
	List	   *given = tde_choice_alternatives(choice);
	List	   *results = NIL;
	Form		whole = {NULL, type, -1};
	int			count = list_length(given);
	Form	   *alternatives = palloc(count * sizeof(Form));
	const Form *like = NULL;

	for (int i = 0; i < count; i++)
	{
		alternatives[i] = argument_form(before_encryption(list_nth(given, i)), remembered);
		if (like == NULL && alternatives[i].type)
			like = &alternatives[i];
	}
	for (int i = 0; like && i < count; i++)
	{
		Form		form = alternative_form(type, &alternatives[i], like);

		if (form.expr == NULL)
			return form;
		results = lappend(results, form.expr);
		if (whole.typmod < 0)
			whole = form;
	}
	whole.expr = like ? tde_choice_of(choice, type->oid, results, remembered) : NULL;
	return whole;
}

/*
 * The form of a call: lower(email), price * 2.  All arguments are taken, plain ones as they are; specification and key come from the first encrypted
 * one.
 */
static Form
called_form(TdeType *type, Node *expr, HTAB *remembered)
{
	Form		like = {NULL};
	List	   *args = NIL;
	List	   *encrypted = NIL;
	Oid			function = tde_called_function(expr, &args);
	ListCell   *cell;

	if (!OidIsValid(function))
		return like;
	foreach(cell, args)
	{
		Form		form = argument_form(lfirst(cell), remembered);

		encrypted = lappend(encrypted, form.expr);
		if (like.type == NULL)
			like = form;
	}
	return make_form(type, function, encrypted, &like);
}

/* What the node decrypts itself, or by an alternative of what it decrypts, and, if it is a cast by text, what is computed there. */
static Form
cast_form(Node *node, const Form *decrypts, HTAB *remembered)
{
	Form		none = {NULL};
	Form		form = *decrypts;

	if (IsA(node, CoerceViaIO) && decrypted(node) == NULL)
		form = look_at((Node *) ((CoerceViaIO *) node)->arg, remembered).whole;
	return form.expr && cast_is_immutable(tde_computed_base_type(form.expr), exprType(node)) ? form : none;
}

/*
 * All that is known of a node that may have a form.  A cast that the encrypted type does not tell from its argument, such as varchar to text, is left
 * out: else name::text and name would be different indexes.
 */
static Forms
forms_of(Node *node, HTAB *remembered)
{
	Forms		forms = {{NULL}};
	TdeType    *type = tde_type_of_base(exprType(node));
	Node	   *relabelled = relabelled_varchar(node);
	Node	   *decrypts = decrypted(node);

	if (tde_is_choice(node))
	{
		type = type ? type : tde_type_find(exprType(node));
		if (type)
			forms.whole = choice_form(type, node, remembered);
		return forms;
	}
	if (relabelled)
		forms = look_at(relabelled, remembered);
	else if (decrypts)
		forms.decrypted = tde_is_choice(decrypts) ? look_at(decrypts, remembered).whole : form_of(decrypts);
	forms.cast = cast_form(node, &forms.decrypted, remembered);
	if (type == NULL)
		return forms;
	if (forms.cast.expr && is_same(forms.cast.expr, exprType(node)))
		forms.whole = forms.cast;
	else if (forms.cast.expr)
		forms.whole = make_form(type, InvalidOid, list_make1(forms.cast.expr), &forms.cast);
	else if (relabelled == NULL && (decrypts == NULL || !tde_is_choice(decrypts)))
		forms.whole = called_form(type, node, remembered);
	return forms;
}

/* The same, remembered by the address of the node.  Nodes that are no call, cast or choice have no form themselves. */
static Forms
look_at(Node *node, HTAB *remembered)
{
	Remembered *entry = NULL;
	Forms		forms = {{NULL}};
	bool		found;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (!tde_form_is_possible(node))
		return forms;
	if (remembered && (entry = hash_search(remembered, &node, HASH_FIND, NULL)) != NULL)
		return entry->forms;
	/* parts of a condition are looked at by others, too */
	if (remembered == NULL && IsA(node, CaseExpr))
		remembered = tde_forms_remembered();
	forms = forms_of(node, remembered);
	if (remembered)
	{
		entry = hash_search(remembered, &node, HASH_ENTER, &found);
		entry->forms = forms;
	}
	return forms;
}

/* Collations are what the parser would make of it, as when an index's definition is read again. */
Node *
tde_form_collated(Node *form)
{
	ParseState *pstate = make_parsestate(NULL);

	assign_expr_collations(pstate, form);
	free_parsestate(pstate);
	return form;
}

HTAB *
tde_forms_remembered(void)
{
	HASHCTL		info = {.keysize = sizeof(Node *), .entrysize = sizeof(Remembered), .hcxt = CurrentMemoryContext};

	return hash_create("tde_column forms", 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

Node *
tde_form_find(Node *expr, HTAB *remembered)
{
	return look_at(expr, remembered).whole.expr;
}

Node *
tde_form_encrypted(Node *expr)
{
	Node	   *form = tde_form_find(expr, NULL);

	return form ? tde_form_collated(form) : NULL;
}

Node *
tde_form_operand(Node *expr)
{
	Node	   *relabelled = relabelled_varchar(expr);
	Node	   *operand = decrypted(relabelled ? relabelled : expr);

	return operand && IsA(operand, Var) && is_same(operand, exprType(expr)) ? operand : NULL;
}
