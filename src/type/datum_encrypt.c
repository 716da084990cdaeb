/*
 * datum_encrypt.c - plaintext datums become encrypted ones; and what of encrypted ones must be encrypted anew.
 *
 * Whoever encrypts comes through seal(), in this order: find_key() says under which key and specification; tde_plain_bytes_make() reads the
 * plaintext, which may accept invalidations; count_ahead() makes room below the key's limit, and finds the key once more; check_required() asks
 * whether a standard excludes it.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "keys/required.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/error.h"
#include "server/remains.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/plain_bytes.h"

/*
 * How a literal is encrypted that reaches the input function without a typmod: without salt, so that no salt is ever
 * shared between the rows that one parsed statement writes, and under the catalog key, so that the length coercion knows
 * it and always encrypts it anew.  Such values stay in the catalogs, in defaults and views, and a server under FIPS, which refuses
 * AES-GCM-SIV, has to read them, too.
 */
static const TdeSpec literal_spec = {TDE_AES256, TDE_CTR, TDE_SHA256, false};

/*
 * What takes the place of triple DES, under the same key, where a statement stores nothing.  By triple DES a key may encrypt so little that casts in
 * queries would use it up.  Where such a value is stored, the coercion to the column finds that it does not fit (ddl/stored_spec.c).
 */
static const TdeSpec spared_spec = {TDE_AES256, TDE_CTR, TDE_GCM, true};

/*
 * What passes from process to process, or through a sort, is encrypted under the literals' key, as no column has it.  With salt: nobody looks
 * for equal values.
 */
static const TdeSpec passing_spec = {TDE_AES256, TDE_CTR, TDE_SHA256, true};

/*
 * The spec and key slot that a typmod stands for, and the active key there.  The memo is marked empty while it is filled: each of these lookups may
 * throw, or forget keys.
 */
static const TdeWriter *
find_writer(TdeType *type, int32 typmod)
{
	TdeWriter  *writer = &type->writers[tde_key_memo((uint32) typmod)];
	TdeModifiers mods;

	if (likely(writer->typmod == typmod && tde_keys_fresh(writer->epoch)))
		return writer;
	writer->epoch = 0;
	if (typmod < 0)
	{
		mods.spec = literal_spec;
		mods.slot = TDE_SLOT_CATALOG;
		mods.pad = 0;
	}
	else
		mods = tde_type_modifiers(type, typmod);
	writer->pad = tde_plain_pad(type->base, &mods);
	writer->key = tde_key_for_writing(mods.slot, mods.spec, type->tag);
	writer->typmod = typmod;
	writer->spec = mods.spec;
	writer->epoch = tde_keys_epoch;
	return writer;
}

/* What a value is to be encrypted under. */
typedef struct Target
{
	TdeType    *type;
	int32		typmod;			/* as a column declares; -1: as the header says, or as a literal if there is none */
	const TdeHeader *header;
	uint32		key_id;			/* of the version of the typmod's key; 0: the newest */
	bool		passes;			/* encrypt by passing_spec */
	bool		spares_des;		/* encrypt by spared_spec in place of triple DES */
	bool		is_copy;		/* of a value that a column has already */
	size_t		pad;			/* to a multiple of so many bytes; 0: not.  Of a header's value given, otherwise set by find_key(), too. */
	TdeSpec		spec;			/* from here on set by find_key() */
	const TdeKey *key;
	uint64		epoch;			/* the key is good while it is this one */
} Target;

/*
 * Sets spec, padding and key of a target.  A key that is named comes first, then what passes, then what the typmod says; at last the header of a
 * value that is there, with the newest version of its key.
 */
static inline void
find_key(Target *target)
{
	const TdeHeader *header = target->header;
	const TdeWriter *writer;

	if (target->key_id != 0)
	{
		TdeModifiers mods = tde_type_modifiers(target->type, target->typmod);

		target->spec = mods.spec;
		target->pad = tde_plain_pad(target->type->base, &mods);
		target->key = tde_key_for_reading(target->key_id, target->spec, target->type->tag);
	}
	else if (target->passes)
	{
		target->spec = passing_spec;
		target->key = tde_key_for_writing(TDE_SLOT_CATALOG, passing_spec, target->type->tag);
	}
	else if (target->typmod >= 0 || header == NULL)
	{
		writer = find_writer(target->type, target->typmod);
		target->spec = writer->spec;
		target->pad = writer->pad;
		target->key = writer->key;
		if (unlikely(target->spares_des && target->spec.cipher == TDE_3DES168))
		{
			target->spec = spared_spec;
			target->key = tde_key_for_writing(tde_type_modifiers(target->type, target->typmod).slot, spared_spec, target->type->tag);
		}
	}
	else
	{
		target->spec = header->spec;
		target->key = tde_key_for_writing(tde_key_row(header->key_id, header->spec)->slot, header->spec, target->type->tag);
	}
	target->epoch = tde_keys_epoch;
}

/* Bytes that are encrypted of so many. */
static inline size_t
padded_size(size_t size, size_t pad)
{
	return pad > 0 ? (size / pad + 1) * pad : size;
}

/*
 * Counts one more value, for which the limit that was reserved has no room.  That makes us forget the key, perhaps, or puts another version in its
 * place; so the key is found again until there is room.
 */
static pg_noinline void
count_ahead(Target *target, uint64 blocks)
{
	find_key(target);
	while (!tde_key_use_left(target->key->use, blocks))
	{
		CHECK_FOR_INTERRUPTS();
		tde_limits_reserve(target->key->use, target->spec, blocks);
		if (target->key_id != 0 && !tde_key_use_left(tde_key_use(target->key_id), blocks))
			target->key_id = 0; /* there is no room under that version any more */
		find_key(target);
	}
}

/*
 * Throws if a value is to be stored in a column under a specification that a standard excludes.  Literals are not, and neither is what a query makes.
 */
static pg_noinline void
check_required(const Target *target)
{
	if (!target->passes && !target->is_copy && target->key->slot != TDE_SLOT_CATALOG && !tde_limits_stores_nothing())
		tde_required_check(target->spec);
}

/*
 * Encrypt a plain_bytes, and free it.  All values are encrypted here, and count against their key's limit, but for those that are compared and
 * stored nowhere.
 */
static inline Datum
seal(Target *target, TdePlainBytes *plain_bytes, bool is_stored)
{
	uint64		blocks = tde_limited_blocks(target->spec, plain_bytes->size);
	size_t		padded;
	size_t		size;
	char	   *result;
	TdeStatus	status;

	tde_log_mark();
	if (is_stored)
	{
		/* reading a large value may have made us forget the key, too */
		if (unlikely(tde_keys_epoch != target->epoch || !tde_key_use_left(target->key->use, blocks)))
			count_ahead(target, blocks);
		if (unlikely(tde_required != 0))
			check_required(target);
		tde_key_use_take(target->key->use, blocks);
	}
	padded = padded_size(plain_bytes->size, target->pad);
	size = tde_header_sealed_size(target->spec, target->key->id, padded);
	if (unlikely(size > MaxAllocSize - VARHDRSZ))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value is too large to be encrypted"),
				 errdetail("It has %zu bytes; with what encryption and padding add it would exceed %zu.",
						   plain_bytes->size, (size_t) MaxAllocSize)));
	result = palloc(VARHDRSZ + size);
	SET_VARSIZE(result, VARHDRSZ + size);
	if (unlikely(target->pad > 0))
		status = tde_value_seal_padded(target->key->value_key, target->key->id, plain_bytes->compressed, plain_bytes->bytes, plain_bytes->size,
									   padded, (uint8 *) VARDATA(result));
	else
		status = tde_value_seal(target->key->value_key, target->key->id, plain_bytes->compressed, plain_bytes->bytes, plain_bytes->size,
								(uint8 *) VARDATA(result));
	tde_stats.encryptions++;
	tde_remains_of(size);
	tde_check(status);
	/* the length coercion that follows will want the literal's plaintext */
	if (target->typmod < 0 && target->header == NULL && !target->passes)
		tde_plaintext_remember(TDE_REMEMBER_LONG, target->type->oid, tde_keys_epoch, (uint8 *) VARDATA(result), size, plain_bytes->bytes, plain_bytes->size);
	tde_plain_bytes_free(plain_bytes);
	return PointerGetDatum(result);
}

/* Encrypt a datum of the base type; the key is found. */
static inline Datum
encrypt(Target *target, Datum value)
{
	TdePlainBytes plain_bytes;

	tde_plain_bytes_make(target->type, value, target->spec, &plain_bytes);
	return seal(target, &plain_bytes, true);
}

/* Bytes of a value's plaintext with its padding; 0: it is not padded. */
static size_t
pad_of(Datum value, const TdeHeader *header)
{
	return header->spec.mode == TDE_PADDED ? tde_header_open_room(header, toast_raw_datum_size(value) - VARHDRSZ) : 0;
}

Datum
tde_datum_encrypt(TdeType *type, Datum value, int32 typmod)
{
	Target		target = {.type = type, .typmod = typmod};

	find_key(&target);
	return encrypt(&target, value);
}

Datum
tde_datum_encrypt_under(TdeType *type, Datum value, int32 typmod, uint32 key_id)
{
	Target		target = {.type = type, .typmod = typmod, .key_id = key_id};

	find_key(&target);
	return encrypt(&target, value);
}

Datum
tde_datum_encrypt_passing(TdeType *type, Datum value)
{
	Target		target = {.type = type, .typmod = -1, .passes = true};

	find_key(&target);
	return encrypt(&target, value);
}

Datum
tde_datum_encrypt_beside(TdeType *type, Datum plain, Datum value)
{
	TdeHeader	header;
	Target		target = {.type = type, .typmod = -1, .header = &header, .is_copy = true};

	tde_datum_read_header(value, &header);
	target.pad = pad_of(value, &header);
	header.spec.salted = true;
	if (header.spec.cipher == TDE_3DES168 && header.spec.mac != TDE_NOMAC)
		header.spec = spared_spec;
	find_key(&target);
	return encrypt(&target, plain);
}

Datum
tde_datum_encrypt_apart(TdeType *type, Datum value)
{
	Datum		plain = tde_datum_decrypt_once(type, value, -1);
	Datum		result = tde_datum_encrypt_beside(type, plain, value);

	tde_datum_free(type, plain);
	return result;
}

Datum
tde_datum_encrypt_given(TdeType *type, Datum value, int32 typmod)
{
	Target		target = {.type = type, .typmod = typmod, .spares_des = tde_limits_stores_nothing()};

	find_key(&target);
	return encrypt(&target, value);
}

/* Returns true if a value is encrypted just as the modifiers say.  Answers with a closed wallet, too. */
static bool
fits(const TdeHeader *header, const TdeModifiers *mods)
{
	return tde_spec_equal(header->spec, mods->spec) && tde_key_row(header->key_id, header->spec)->slot == mods->slot;
}

/*
 * Where the value comes from, the same key may be declared: then it may be under another one, and gets the right one now.  So
 * ddl/stored_spec.c mends what a function has wrongly said of its values.
 */
Datum
tde_datum_coerce(TdeType *type, Datum value, int32 typmod, int32 declared, bool is_explicit)
{
	TdeModifiers mods;
	TdeHeader	header;
	bool		fitting;
	bool		has_key;
	size_t		pad;
	size_t		padded;
	Datum		plain;
	Datum		coerced;

	/* pg_upgrade's values have been made to fit already, and their keys are not there yet */
	if (typmod < 0 || IsBinaryUpgrade)
		return value;
	mods = tde_type_modifiers(type, typmod);
	tde_datum_read_header(value, &header);
	fitting = fits(&header, &mods);
	has_key = fitting || declared >> 1 == mods.slot;
	if (has_key && unlikely(!tde_fits(tde_declaration(mods.slot, header.spec), declared)))
		tde_declared_refuse(type, tde_declaration(mods.slot, header.spec), declared, true);
	pad = tde_plain_pad(type->base, &mods);
	padded = pad_of(value, &header);
	/* once, it has as much as it needs */
	if (fitting && padded == pad && mods.base_typmod < 0)
		return value;

	plain = tde_datum_decrypt(type, value, has_key ? -1 : declared);
	coerced = tde_base_coerce(type, plain, mods.base_typmod, is_explicit);
	/* how much there was to be padded of what is compressed, nobody knows any more */
	if (fitting && padded != pad && (header.flag || padded != padded_size(VARSIZE_ANY_EXHDR(DatumGetPointer(plain)), pad)))
		fitting = false;
	if (fitting && datumIsEqual(plain, coerced, type->base_byval, type->base_len))
		return value;
	return tde_datum_encrypt_given(type, coerced, typmod);
}

/* ---- values that are there, encrypted anew ---- */

typedef struct Floor
{
	int32		slot;
	char		kind;
	int32		version;
} Floor;

/*
 * Returns the version that was the newest of this one's key when these floors were asked about it first.  A list will do: there are few keys in a
 * table.
 */
static int32
floor_version(const TdeDataKey *newest, TdeKeyFloors *floors)
{
	MemoryContext old;
	Floor	   *floor;
	ListCell   *cell;

	foreach(cell, floors->list)
	{
		floor = lfirst(cell);
		if (floor->slot == newest->slot && floor->kind == newest->kind)
			return floor->version;
	}
	old = MemoryContextSwitchTo(floors->context);
	floor = palloc(sizeof(Floor));
	*floor = (Floor) {newest->slot, newest->kind, newest->version};
	floors->list = lappend(floors->list, floor);
	MemoryContextSwitchTo(old);
	return floor->version;
}

/* As far as its header and its size tell. */
static bool
is_like(Datum value, const TdeHeader *header, TdeSpec spec, size_t pad)
{
	return tde_spec_equal(header->spec, spec) && (pad == 0 || pad_of(value, header) % pad == 0);
}

bool
tde_datum_is_declared(TdeType *type, Datum value, int32 typmod)
{
	TdeModifiers mods = tde_type_modifiers(type, typmod);
	TdeHeader	header;

	return tde_datum_header(value, &header) && is_like(value, &header, mods.spec, tde_plain_pad(type->base, &mods));
}

bool
tde_datum_is_current(TdeType *type, Datum value, int32 typmod, TdeKeyFloors *floors)
{
	TdeHeader	header;
	Target		target = {.type = type, .typmod = typmod, .header = &header};
	int32		lowest;
	const TdeDataKey *row;

	tde_datum_read_header(value, &header);
	target.pad = pad_of(value, &header);
	find_key(&target);
	lowest = floor_version(tde_key_row(target.key->id, target.spec), floors);
	if (!is_like(value, &header, target.spec, target.pad))
		return false;
	if (header.key_id == target.key->id)
		return true;
	row = tde_key_row(header.key_id, header.spec);
	return row->slot == target.key->slot && row->kind == target.key->kind && row->state == TDE_STATE_ACTIVE && row->version >= lowest;
}

Datum
tde_datum_reencrypt(TdeType *type, Datum value, int32 typmod, int32 declared)
{
	Datum		plain = tde_datum_decrypt_once(type, value, declared);
	TdeHeader	header;
	Target		target = {.type = type, .typmod = typmod, .header = &header};
	Datum		result;

	tde_datum_read_header(value, &header);
	target.pad = pad_of(value, &header);
	find_key(&target);
	result = encrypt(&target, plain);
	tde_datum_free(type, plain);
	return result;
}

struct varlena *
tde_datum_seal_like(TdeType *type, Datum value, const TdeHeader *header, size_t size)
{
	Target		target = {.type = type, .typmod = -1, .header = header, .spec = header->spec};
	TdePlainBytes plain_bytes;

	Assert(!header->spec.salted);
	if (header->spec.mode == TDE_PADDED)
		target.pad = tde_header_open_room(header, size);
	tde_plain_bytes_make(type, value, header->spec, &plain_bytes);
	target.key = tde_access_key_for_comparing(header->key_id, header->spec, type->tag);
	return (struct varlena *) DatumGetPointer(seal(&target, &plain_bytes, false));
}
