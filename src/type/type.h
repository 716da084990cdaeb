/*
 * type.h - what the catalogs say of an encrypted type and of a function of ours, cached by OID.
 *
 * One C core serves all types.  Which base type an encrypted type has is read from the catalogs alone (never from a table
 * of ours or from a name): its modifier function says so.  So users can make encrypted types of their own, and a dump
 * restores them.
 */
#ifndef TDE_TYPE_TYPE_H
#define TDE_TYPE_TYPE_H

#include "fmgr.h"

#include "keys/cache.h"
#include "keys/typmod.h"

/* Keys looked up before, to be used again while they are fresh: by what values begin with, ... */
typedef struct TdeReader
{
	uint64		epoch;			/* 0: empty */
	uint64		head;			/* the header, as it stands in values, followed by zeros; mask has ones where it has bytes */
	uint64		mask;
	TdeHeader	header;
	const TdeKey *key;
	int32		fits;			/* what must be declared where such a value stands: tde_declaration() of it */
} TdeReader;

/* ... and by what columns declare. */
typedef struct TdeWriter
{
	uint64		epoch;			/* 0: empty */
	int32		typmod;
	TdeSpec		spec;
	const TdeKey *key;
	size_t		pad;			/* tde_plain_pad() */
} TdeWriter;

/* How many of each.  Several, for sessions that meet several columns of one type. */
#define TDE_KEY_MEMOS	16

/* Which of them: the upper four bits of a product, that each bit of what the key is looked up by has its part in. */
static inline uint32
tde_key_memo(uint32 by)
{
	return (by * 2654435769u) >> 28;
}

/*
 * What is known of a type, which need not be an encrypted one.  Entries are never removed; an invalidation resets valid, and the next tde_type_find()
 * fills the entry again in place.  Readers and writers are good as long as their epoch is fresh (keys/cache.h).
 */
typedef struct TdeType
{
	Oid			oid;			/* hash key */
	bool		valid;			/* false: read the catalogs again */
	bool		is_encrypted;	/* false: all that follows is not set */
	Oid			result_function;	/* see client/result.c; InvalidOid: not looked up */
	Oid			base;
	int16		base_len;
	bool		base_byval;
	char		base_align;
	char		base_storage;
	TdeModLayout layout;
	uint8		tag[TDE_TYPE_TAG_SIZE];

	/* functions of the base type, each looked up at its first use (NULL before) */
	uint64		functions_epoch;	/* when that was: see tde_functions_epoch */
	FmgrInfo   *input;
	FmgrInfo   *output;
	FmgrInfo   *receive;
	FmgrInfo   *send;
	FmgrInfo   *coerce;			/* length coercion */
	Oid			ioparam;

	const struct TdeVerifier *verifier; /* of the base type's bytes, or NULL: not looked up */
	int32		unpacked_typmod;	/* the one that was unpacked last, ... */
	TdeModifiers unpacked;		/* ... and what it says */
	TdeReader	readers[TDE_KEY_MEMOS];
	TdeWriter	writers[TDE_KEY_MEMOS];
} TdeType;

/*
 * A function of ours: its argument and result types, and which of others' functions it stands for.  Entries are never removed.  What hangs from them
 * is replaced when it has changed, and not freed.
 */
typedef struct TdeProc
{
	Oid			oid;			/* hash key */
	bool		valid;
	int			nargs;			/* at most 3: what follows is of the first three */
	Oid			arg_types[3];
	Oid			result_type;
	TdeType    *args[3];		/* NULL where the argument is not of an encrypted type */
	TdeType    *result;			/* likewise */

	/* which functions it stands for; each function of ours has one of these */
	uint64		resolved;		/* when that was looked up: ask tde_is_resolved() */
	struct TdeComparison *comparison;	/* of the first two arguments; see type/base_functions.c */
	struct TdeArithmetic *arithmetic;	/* likewise, for operators that compute */
	struct TdeBlindClass *blind;	/* of a function of an operator class of GIN; see operators/blind_class.c */
	FmgrInfo   *base_function;	/* of the base type, that does what this one does (cast, hash, in_range, search) */
	int			cast_path;		/* of tde_cast_plain(): CoercionPathType */
} TdeProc;

/* A column of a table. */
typedef struct TdeColumn
{
	Oid			table;			/* InvalidOid: not known */
	int32		number;			/* InvalidAttrNumber: not known, while the table may be */
} TdeColumn;

#define TDE_NO_COLUMN	((TdeColumn) {InvalidOid, 0})

/*
 * What one call site keeps in fn_extra: small, made without a catalog lookup but for the function's entry.  It goes with the FmgrInfo's memory
 * context.
 */
typedef struct TdeCall
{
	TdeProc    *proc;
	int32		declared[3];	/* what the expression tells of the first arguments: as tde_declared(); of plain ones the typmod */
	TdeColumn	columns[3];		/* where the first arguments come from, if masks were looked for */
	int			constant;		/* which of the first two is the same at each call, mostly; -1: neither */
	void	   *more;			/* what the function itself keeps, in fn_mcxt; NULL at first */
	void	   *opened;			/* what the module "decryptions" keeps, likewise */
} TdeCall;

/*
 * Rises whenever a function, cast, operator or operator class may have changed: what was looked up before must be looked up again.
 * Whoever does that notes the epoch in which he began.
 */
extern uint64 tde_functions_epoch;

/*
 * Returns true if what hangs from a function's entry is still good.  If not, whoever looks it up notes the epoch before, and sets resolved to that
 * afterwards.
 */
static inline bool
tde_is_resolved(const TdeProc *proc)
{
	return likely(proc->resolved == tde_functions_epoch);
}

/* Returns how the modifiers of a base type are stored in a typmod. */
extern TdeModLayout tde_type_mod_layout(Oid base);

/*
 * Sets base type and tag of an encrypted type, as they stand in the catalogs.  Returns false if it is none, or incomplete.  All that is known of
 * which types are encrypted comes from here, the view tde.types included.
 */
extern bool tde_type_base(Oid type, Oid *base, uint8 tag[TDE_TYPE_TAG_SIZE]);

/*
 * Returns the type, or NULL if it is not an encrypted one.  The pointer is good as long as the backend lives.  Throws ERRCODE_UNDEFINED_OBJECT if it
 * is incomplete.
 */
extern PGDLLEXPORT TdeType *tde_type_find(Oid type);

/* Unpacks and remembers a typmod that is not -1.  Throws on one that no declaration of this type can have given. */
extern PGDLLEXPORT void tde_type_unpack(TdeType *type, int32 typmod);

/* Returns what a typmod says that is not -1.  Throws likewise. */
static inline TdeModifiers
tde_type_modifiers(TdeType *type, int32 typmod)
{
	if (unlikely(type->unpacked_typmod != typmod))
		tde_type_unpack(type, typmod);
	return type->unpacked;
}

/* Returns the typmod of the base type that such a typmod, or -1, stands for.  Mostly there is none, and this is -1. */
static inline int32
tde_type_base_typmod(TdeType *type, int32 typmod)
{
	return tde_typmod_has_low_bits(typmod) ? tde_type_modifiers(type, typmod).base_typmod : -1;
}

/* Returns true if such a typmod, or -1, declares that files are not to tell the order of values. */
static inline bool
tde_type_tells_no_order(TdeType *type, int32 typmod)
{
	return typmod >= 0 && tde_type_modifiers(type, typmod).unordered;
}

/* Returns the encrypted type of a base type; NULL: it has none.  Goes through the casts from the base type. */
extern TdeType *tde_type_of_base(Oid base);

/* Returns true if this SQL function is the one of this library that has this C symbol, and so this address. */
extern bool tde_type_is_function(Oid function, const char *symbol, PGFunction address);

/*
 * Returns the function of tde_internal with this name, which is its symbol, and these types of arguments; InvalidOid if it is not there, or not ours.
 */
extern PGDLLEXPORT Oid tde_type_internal_function(const char *symbol, PGFunction address, const Oid *types, int count);

/* The same as tde_type_find(); throws ERRCODE_WRONG_OBJECT_TYPE if it is not one, ERRCODE_UNDEFINED_OBJECT if there is no such type. */
extern PGDLLEXPORT TdeType *tde_type_get(Oid type);

/*
 * Returns the encrypted type whose modifier or sort support function has this OID; their arguments do not tell, so that each type has SQL functions
 * of its own.  Throws ERRCODE_UNDEFINED_OBJECT if no type uses it.
 */
extern TdeType *tde_type_of_function(Oid function);

/* Returns a function of ours by its OID.  Throws ERRCODE_UNDEFINED_FUNCTION if there is no such function. */
extern TdeProc *tde_type_proc(Oid oid);

/* Makes what a call site keeps; for tde_call().  Allocates it in fn_mcxt. */
extern PGDLLEXPORT TdeCall *tde_call_setup(FunctionCallInfo fcinfo);

/* Returns what a call site keeps.  For functions of ours that keep nothing else in fn_extra. */
static inline TdeCall *
tde_call(FunctionCallInfo fcinfo)
{
	if (likely(fcinfo->flinfo->fn_extra != NULL))
		return (TdeCall *) fcinfo->flinfo->fn_extra;
	return tde_call_setup(fcinfo);
}

/*
 * Returns a function, ready to be called.  It stays good for whoever is using it, and the same for as long as nobody changes the function.  Its
 * fn_expr is NULL.
 */
extern FmgrInfo *tde_type_function(Oid function);

/* From _PG_init: the functions by which an encrypted type is known. */
extern void tde_type_init(PGFunction in, PGFunction typmod_in); /* by these, an encrypted type is known */

#endif							/* TDE_TYPE_TYPE_H */
