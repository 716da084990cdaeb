/*
 * type.c - what the catalogs say of an encrypted type and of a function of ours, cached by OID.
 *
 * Entries are never removed, so that pointers to them stay good; an invalidation marks them, and the next lookup fills
 * them again in place.  Functions of others are looked up anew, too, but not in place: a call of one may be under way, and be
 * what has changed it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/uuid.h"

#include "server/compat.h"
#include "server/memory.h"
#include "server/stored_tree.h"
#include "type/inside.h"
#include "type/plain_bytes.h"
#include "type/type.h"

/* Lookups remembered before the hash table is asked: set-up runs for each statement, and must cost next to nothing. */
#define LOOKUP_MEMOS	16

uint64		tde_functions_epoch = 1;

/* A function of somebody else's. */
typedef struct Known
{
	Oid			oid;			/* hash key */
	FmgrInfo   *finfo;			/* NULL: not looked up.  Never freed: who knows who is using it */
	bool		valid;			/* false: see whether it has changed */
	TransactionId xmin;			/* of its row in pg_proc then */
	ItemPointerData tid;
} Known;

/* By these two an encrypted type is known. */
static PGFunction input = NULL;
static PGFunction typmod_input = NULL;

static HTAB *types = NULL;
static HTAB *procs = NULL;
static HTAB *functions = NULL;
static MemoryContext type_context = NULL;

/* ---- tables ---- */

/* A type has changed, or a function. */
static void
invalidate(Datum arg, int cacheid, uint32 hashvalue)
{
	HASH_SEQ_STATUS status;
	TdeType    *type;
	TdeProc    *proc;

	hash_seq_init(&status, types);
	while ((type = hash_seq_search(&status)) != NULL)
	{
		type->valid = false;
		type->functions_epoch = 0;
	}
	hash_seq_init(&status, procs);
	while ((proc = hash_seq_search(&status)) != NULL)
		proc->valid = false;
}

/* Which functions somebody's types have may have changed, or what those do. */
static void
invalidate_functions(Datum arg, int cacheid, uint32 hashvalue)
{
	HASH_SEQ_STATUS status;
	Known	   *known;

	tde_functions_epoch++;
	hash_seq_init(&status, functions);
	while ((known = hash_seq_search(&status)) != NULL)
		known->valid = false;
}

void
tde_type_init(PGFunction in, PGFunction typmod_in)
{
	static const int resolved_by[] = {PROCOID, CASTSOURCETARGET, OPEROID, CLAOID, AMPROCNUM, AMOPOPID};

	input = in;
	typmod_input = typmod_in;
	type_context = AllocSetContextCreate(TopMemoryContext, "tde_column types", ALLOCSET_DEFAULT_SIZES);
	types = tde_memory_table_new("tde_column types", sizeof(Oid), sizeof(TdeType));
	procs = tde_memory_table_new("tde_column functions", sizeof(Oid), sizeof(TdeProc));
	functions = tde_memory_table_new("tde_column functions of base types", sizeof(Oid), sizeof(Known));
	CacheRegisterSyscacheCallback(TYPEOID, invalidate, (Datum) 0);
	CacheRegisterSyscacheCallback(PROCOID, invalidate, (Datum) 0);
	for (int i = 0; i < lengthof(resolved_by); i++)
		CacheRegisterSyscacheCallback(resolved_by[i], invalidate_functions, (Datum) 0);
}

/* Returns true if the function has changed since, or was never looked up. */
static bool
has_changed(Known *known)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(known->oid));
	TransactionId xmin;
	bool		changed;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("function with OID %u does not exist", known->oid)));
	xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	changed = known->finfo == NULL || known->xmin != xmin || !ItemPointerEquals(&known->tid, &tuple->t_self);
	known->xmin = xmin;
	known->tid = tuple->t_self;
	ReleaseSysCache(tuple);
	return changed;
}

FmgrInfo *
tde_type_function(Oid oid)
{
	bool		found;
	Known	   *known = hash_search(functions, &oid, HASH_ENTER, &found);
	FmgrInfo   *finfo;

	if (!found)
		known->finfo = NULL;
	if (known->finfo && known->valid)
		return known->finfo;
	if (has_changed(known))
		known->finfo = NULL;
	known->valid = true;		/* until we are told otherwise, which may be below */
	if (known->finfo == NULL)
	{
		finfo = MemoryContextAlloc(type_context, sizeof(FmgrInfo));
		fmgr_info_cxt(oid, finfo, type_context);
		known->finfo = finfo;
	}
	return known->finfo;
}

/* ---- types ---- */

/* Compares the address, so that a namesake in another library is not taken for it. */
bool
tde_type_is_function(Oid function, const char *symbol, PGFunction address)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		candidate = false;
	FmgrInfo	finfo;

	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		candidate = ((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId && !isnull &&
			strcmp(TextDatumGetCString(source), symbol) == 0;
		ReleaseSysCache(tuple);
	}
	if (!candidate)
		return false;
	fmgr_info(function, &finfo);
	return finfo.fn_addr == address;
}

Oid
tde_type_internal_function(const char *symbol, PGFunction address, const Oid *types, int count)
{
	Oid			schema = get_namespace_oid("tde_internal", true);
	oidvector  *arguments = buildoidvector(types, count);
	Oid			function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(symbol),
										   PointerGetDatum(arguments), ObjectIdGetDatum(schema));

	pfree(arguments);
	return OidIsValid(function) && tde_type_is_function(function, symbol, address) ? function : InvalidOid;
}

/* Returns true if a query consists of one expression, and nothing else.  What a function in SQL RETURNs is such a one. */
static bool
is_expression(Node *node)
{
	Query	   *query = (Query *) node;

	return node != NULL && IsA(node, Query) && query->commandType == CMD_SELECT && list_length(query->targetList) == 1 &&
		query->rtable == NIL && query->cteList == NIL && !query->hasSubLinks && query->jointree->fromlist == NIL &&
		query->jointree->quals == NULL && query->havingQual == NULL && query->limitCount == NULL && query->limitOffset == NULL;
}

/* The call that the body of a function in SQL consists of: RETURN f(...); NULL if it is something else. */
static FuncExpr *
returned_call(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Node	   *node = NULL;

	if (HeapTupleIsValid(tuple))
	{
		node = tde_stored_tree(PROCOID, tuple, Anum_pg_proc_prosqlbody);
		ReleaseSysCache(tuple);
	}
	if (!is_expression(node))
		return NULL;
	node = (Node *) linitial_node(TargetEntry, ((Query *) node)->targetList)->expr;
	return IsA(node, FuncExpr) ? (FuncExpr *) node : NULL;
}

/*
 * Base type and type tag stand in the type's modifier function, RETURN tde_typmod_in($1, base, tag).  They are read from its
 * parse tree, because we can be called where no query can be run.  Why there: of all that belongs to a type, this alone is
 * sure to be restored from a dump before everything that uses the type, and after the base type.
 *
 * The whole body must be that.  Whoever declares a column runs it, and another argument could call anything.
 */
static bool
find_base(Oid typmodin, Oid *base, uint8 *tag)
{
	FuncExpr   *call = returned_call(typmodin);
	Param	   *words;
	Const	   *args[2];

	if (call == NULL || list_length(call->args) != 3 || !tde_type_is_function(call->funcid, "tde_typmod_in", typmod_input))
		return false;
	words = linitial(call->args);
	if (!IsA(words, Param) || words->paramkind != PARAM_EXTERN || words->paramid != 1 || words->paramtype != CSTRINGARRAYOID)
		return false;
	args[0] = list_nth(call->args, 1);
	args[1] = list_nth(call->args, 2);
	if (!IsA(args[0], Const) || args[0]->constisnull || !IsA(args[1], Const) || args[1]->constisnull)
		return false;
	*base = DatumGetObjectId(args[0]->constvalue);
	memcpy(tag, DatumGetUUIDP(args[1]->constvalue)->data, UUID_LEN);
	return true;
}

/* Its modifier function; false if it is no encrypted type.  A domain has its base type's input function, but no cast and no tag: it is none. */
static bool
is_encrypted(Oid type, Oid *typmodin)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid			function = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		if (((Form_pg_type) GETSTRUCT(tuple))->typtype == TYPTYPE_BASE)
			function = ((Form_pg_type) GETSTRUCT(tuple))->typinput;
		*typmodin = ((Form_pg_type) GETSTRUCT(tuple))->typmodin;
		ReleaseSysCache(tuple);
	}
	return OidIsValid(function) && tde_type_is_function(function, "tde_in", input);
}

bool
tde_type_base(Oid type, Oid *base, uint8 tag[TDE_TYPE_TAG_SIZE])
{
	Oid			typmodin;

	return is_encrypted(type, &typmodin) && find_base(typmodin, base, tag);
}

TdeModLayout
tde_type_mod_layout(Oid base)
{
	HeapTuple	tuple;
	bool		has_modifiers;

	switch (base)
	{
		case NUMERICOID:
			return TDE_MOD_NUMERIC;
		case VARCHAROID:
		case BPCHAROID:
			return TDE_MOD_LENGTH;
		case TIMEOID:
		case TIMETZOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return TDE_MOD_PRECISION;
		case INTERVALOID:
			return TDE_MOD_LARGE;
	}
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
	has_modifiers = HeapTupleIsValid(tuple) && OidIsValid(((Form_pg_type) GETSTRUCT(tuple))->typmodin);
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return has_modifiers ? TDE_MOD_OTHER : TDE_MOD_NONE;
}

static void
fill_type(TdeType *type)
{
	Oid			typmodin;
	Oid			base;
	uint8		tag[TDE_TYPE_TAG_SIZE];

	if (!is_encrypted(type->oid, &typmodin))
	{
		type->is_encrypted = false;
		return;
	}
	if (!find_base(typmodin, &base, tag))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("encrypted type %s is incomplete", format_type_be(type->oid)),
				 errdetail("Its modifier function is not the one that tde_create_type() made.")));
	type->result_function = InvalidOid;
	/* somebody may be using what has been looked up for it, so that stays unless it is wrong */
	if (type->is_encrypted && type->base == base && memcmp(type->tag, tag, sizeof(tag)) == 0)
		return;
	memset(&type->base, 0, sizeof(*type) - offsetof(TdeType, base));
	memcpy(type->tag, tag, sizeof(type->tag));
	type->unpacked_typmod = -1;
	type->base = base;
	get_typlenbyvalalign(base, &type->base_len, &type->base_byval, &type->base_align);
	type->base_storage = get_typstorage(base);
	type->layout = tde_type_mod_layout(base);
	type->is_encrypted = true;
}

static pg_noinline TdeType *
find_in_table(Oid oid)
{
	bool		found;
	TdeType    *type = hash_search(types, &oid, HASH_ENTER, &found);

	if (!found)
		type->valid = type->is_encrypted = false;
	if (!type->valid)
	{
		fill_type(type);
		type->valid = true;
	}
	return type;
}

TdeType *
tde_type_find(Oid oid)
{
	static TdeType *found_before[LOOKUP_MEMOS]; /* entries stay where they are */
	TdeType    *type = found_before[oid % LOOKUP_MEMOS];

	/* one of PostgreSQL's own: a session that uses nothing else writes into no table of ours */
	if (oid < FirstNormalObjectId)
		return NULL;
	if (unlikely(type == NULL || type->oid != oid || !type->valid))
		found_before[oid % LOOKUP_MEMOS] = type = find_in_table(oid);
	return type->is_encrypted ? type : NULL;
}

TdeType *
tde_type_of_base(Oid base)
{
	CatCList   *casts = SearchSysCacheList1(CASTSOURCETARGET, ObjectIdGetDatum(base));
	TdeType    *found = NULL;

	for (int i = 0; i < casts->n_members && found == NULL; i++)
	{
		TdeType    *type = tde_type_find(((Form_pg_cast) GETSTRUCT(&casts->members[i]->tuple))->casttarget);

		if (type && type->base == base)
			found = type;
	}
	ReleaseSysCacheList(casts);
	return found;
}

TdeType *
tde_type_get(Oid oid)
{
	TdeType    *type = tde_type_find(oid);

	if (type != NULL)
		return type;
	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(oid)))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("type with OID %u does not exist", oid)));
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("type %s is not an encrypted type", format_type_be(oid))));
}

void
tde_type_unpack(TdeType *type, int32 typmod)
{
	TdeModifiers mods = tde_modifiers_unpack(type->layout, typmod);

	/* a value could be written that way, and never be read */
	if (mods.spec.mac == TDE_NOMAC && tde_plain_verifier(type->base) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type modifier %d for type %s", typmod, format_type_be(type->oid)),
				 errdetail("It says nomac, but values of type %s must be authenticated.", format_type_be(type->base))));
	if (mods.pad > 0 && tde_plain_pad(type->base, &mods) == 0)
		tde_typmod_invalid(typmod);
	type->unpacked = mods;
	type->unpacked_typmod = typmod;
}

/* The encrypted type in the first row of a catalog in which a column is this function; InvalidOid if there is none. */
static Oid
type_by_column(Oid catalog, AttrNumber column, Oid function)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			type = InvalidOid;

	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(function));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	while (!OidIsValid(type) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		if (catalog == AccessMethodProcedureRelationId)
			type = ((Form_pg_amproc) GETSTRUCT(tuple))->amproclefttype;
		else if (!OidIsValid(((Form_pg_type) GETSTRUCT(tuple))->typelem))	/* its array type has the same functions */
			type = ((Form_pg_type) GETSTRUCT(tuple))->oid;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return type;
}

TdeType *
tde_type_of_function(Oid function)
{
	TdeProc    *proc = hash_search(procs, &function, HASH_FIND, NULL);
	Oid			type;
	bool		found;

	if (proc && proc->valid && proc->result)
		return proc->result;

	type = type_by_column(TypeRelationId, Anum_pg_type_typmodin, function);
	if (!OidIsValid(type))
		type = type_by_column(TypeRelationId, Anum_pg_type_typmodout, function);
	if (!OidIsValid(type))
		type = type_by_column(AccessMethodProcedureRelationId, Anum_pg_amproc_amproc, function);
	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("no encrypted type uses the function with OID %u", function)));

	proc = hash_search(procs, &function, HASH_ENTER, &found);
	memset(proc, 0, sizeof(*proc));
	proc->oid = function;
	proc->result = tde_type_get(type);
	proc->valid = true;
	return proc->result;
}

/* ---- functions ---- */

TdeProc *
tde_type_proc(Oid oid)
{
	static TdeProc *found_before[LOOKUP_MEMOS];
	TdeProc    *proc = found_before[oid % LOOKUP_MEMOS];
	HeapTuple	tuple;
	Form_pg_proc form;
	bool		found;

	if (proc && proc->oid == oid && proc->valid)
		return proc;
	proc = hash_search(procs, &oid, HASH_ENTER, &found);
	if (!found)
	{
		memset(proc, 0, sizeof(*proc));
		proc->oid = oid;
	}
	if (proc->valid)
		return proc;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("function with OID %u does not exist", oid)));
	form = (Form_pg_proc) GETSTRUCT(tuple);
	proc->nargs = Min(form->pronargs, (int) lengthof(proc->args));
	for (int i = 0; i < proc->nargs; i++)
		proc->arg_types[i] = form->proargtypes.values[i];
	proc->result_type = form->prorettype;
	ReleaseSysCache(tuple);

	for (int i = 0; i < proc->nargs; i++)
		proc->args[i] = tde_type_find(proc->arg_types[i]);
	proc->result = tde_type_find(proc->result_type);
	proc->valid = true;
	found_before[oid % LOOKUP_MEMOS] = proc;
	return proc;
}
