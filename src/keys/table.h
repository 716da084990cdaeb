/*
 * table.h - the table tde.data_keys: wrapped data keys, read and added.
 *
 * Rows are added like sequences advance: outside the transaction, so that no rollback and no crash takes away a key under
 * which something may already be encrypted.
 */
#ifndef TDE_KEYS_TABLE_H
#define TDE_KEYS_TABLE_H

#include "nodes/pg_list.h"

#include "keys/wrap.h"
#include "server/compat.h"

/* Reserved slots; users' slots are 0 (the default key) and up. */
#define TDE_SLOT_DEFAULT	0
#define TDE_SLOT_CATALOG	(-1)
#define TDE_SLOT_HASH		(-2)
#define TDE_NO_SLOT			(-3)

/* What a key may be used for; the column kind of tde.data_keys. */
#define TDE_KIND_MAC		'm' /* values with a MAC */
#define TDE_KIND_NOMAC		'n' /* values without; made only where a column is declared nomac */
#define TDE_KIND_CATALOG	'c' /* literals at parse time, which views, defaults, ... store */
#define TDE_KIND_HASH		'h' /* the keyed hash */

#define TDE_STATE_ACTIVE	'a'
#define TDE_STATE_PREPARED	'p' /* not yet for new values: the next version, which other databases are to have before */
#define TDE_STATE_RETIRED	'r' /* never for new values: an imported one */
#define TDE_STATE_DESTROYED	'd'

typedef void (*TdeDataKeyVisitor) (const TdeDataKey *row, void *arg);

/* OID of tde.data_keys; InvalidOid if the extension is not in this database. */
extern PGDLLEXPORT Oid tde_keys_relid(void);

/* The same, or an error. */
extern PGDLLEXPORT Oid tde_keys_require(void);

/*
 * The slot of a key by its name ("default" and "catalog" included); TDE_NO_SLOT if there is none,
 * or none any more.
 */
extern int32 tde_keys_slot(const char *name);

/* The same for the name in a declaration, which may mean a destroyed key as well: see below. */
extern int32 tde_keys_declared_slot(const char *name);

/*
 * The name of a slot's key, as declarations print it.  Of one that was destroyed and whose name another key has by now it is NAME~destroyed~SLOT.
 * exists: the slot has, or had, a key.
 */
typedef struct TdeSlotName
{
	bool		exists;
	bool		destroyed;
	char		name[NAMEDATALEN];
} TdeSlotName;

extern TdeSlotName tde_keys_name(int32 slot);

/* What messages call a key: its name, or for want of one the number of its slot. */
extern PGDLLEXPORT const char *tde_keys_called(const TdeDataKey *row);
extern PGDLLEXPORT const char *tde_keys_slot_called(int32 slot);

/* ereport if a key has this name. */
extern void tde_keys_refuse_taken(const char *name);

/* Has no key this name, nor had one that was destroyed? */
extern bool tde_keys_is_free(const char *name);

/* ereport: a declaration names a key that is not there. */
pg_noreturn extern void tde_keys_missing(const char *name);

/* Give the rows of this name a description, NULL: none; how many there are. */
extern int	tde_keys_describe(const char *name, const char *description);

/* The slot of this name, or an error. */
extern int32 tde_keys_require_slot(const char *name);

/* Is it not for new values: imported, or not yet activated?  One that was destroyed is for no values at all. */
static inline bool
tde_keys_only_reads(const TdeDataKey *row)
{
	return row->state == TDE_STATE_RETIRED || row->state == TDE_STATE_PREPARED;
}

/*
 * New values of a slot and kind take the highest version that was not imported; none if that was destroyed.  Is that rather this row
 * than best, the one found so far (NULL: none)?
 */
extern bool tde_keys_is_newer(const TdeDataKey *row, int32 slot, char kind, const TdeDataKey *best);

/* Visit every row, or those of a slot, under a snapshot of its own (historic while decoding). */
extern PGDLLEXPORT void tde_keys_scan(TdeDataKeyVisitor visit, void *arg);
extern void tde_keys_scan_slot(int32 slot, TdeDataKeyVisitor visit, void *arg);

/* All rows, as a list of TdeDataKey. */
extern PGDLLEXPORT List *tde_keys_rows(void);

/* The row of a key by its number, or by its UUID; false if there is none. */
extern PGDLLEXPORT bool tde_keys_find(uint32 id, TdeDataKey *found);
extern bool tde_keys_find_uuid(const uint8 uuid[16], TdeDataKey *found);

/*
 * See that the slot has an active key of this kind, or was destroyed; make its first version if not.  A slot that has no key at all
 * stays so.  False if none can be made here (wallet closed, recovery, parallel mode, read-only transaction).
 */
extern bool tde_keys_ensure(int32 slot, char kind);

/* The keys that every database needs: slot 0, catalog and hash. */
extern bool tde_keys_ensure_basic(void);

/* These, and for each slot of active keys one of the kind for values without MAC; as far as they can be made here. */
extern PGDLLEXPORT void tde_keys_ensure_all(void);

/*
 * A new key of this name, in a slot of its own, whose number is returned; master: the wrapping key's id, NULL for the current
 * one.  ereport if there is one of this name or none can be made.
 */
extern int32 tde_keys_create(const char *name, const uint8 *master);

/* The slot of the key of this name, which is made if there is none. */
extern int32 tde_keys_find_or_create(const char *name, bool *created);

/*
 * The next version of each of the slot's active keys: the prepared one, if there is one, or else a new one in this state, TDE_STATE_ACTIVE or
 * TDE_STATE_PREPARED, which is there at once and for good.  Returns the highest, 0 if the slot has no active key.
 */
extern int32 tde_keys_make_next(int32 slot, char state);

/* Prepared versions of the slot's keys are for new values from the commit on. */
extern void tde_keys_activate(int32 slot);

/*
 * Make another version in place of this one, unless that has been done; false if it cannot be done now.  wait: until others have made or changed
 * keys.  Throws no more than what inserting a row, and waiting, may.
 */
extern bool tde_keys_replace(uint32 id, bool wait);

/* Milliseconds since the key was made; 0 if there is no such key. */
extern long tde_keys_age(uint32 id);

/* Which slot here stands for the slot of the key that was imported last; both TDE_NO_SLOT at first. */
typedef struct TdeSlotMap
{
	int32		there;
	int32		here;
} TdeSlotMap;

/*
 * Add a key that another database has made, for reading only.  Its slot is the one of the same name, or of the same number if
 * that is free or has no name either; else a new one.  Version and number are its own here.  False if the key is here already and can be unwrapped; if it cannot,
 * since the wallet lacks its master key, it is wrapped by the current one, in the transaction.
 */
extern PGDLLEXPORT bool tde_keys_import(const TdeDataKey *imported, const uint8 data_key[TDE_DATA_KEY_SIZE], TdeSlotMap *map);

/*
 * Change rows, in the transaction: edit() sees each one and says whether it has changed state, name, master, check value or
 * wrapped.  Nobody else can change the table until the transaction ends.  Returns how many were changed.
 */
typedef bool (*TdeDataKeyEditor) (TdeDataKey *row, void *arg);
extern int	tde_keys_edit(TdeDataKeyEditor edit, void *arg);

/* What becomes of a row. */
typedef struct TdeKeyChange
{
	uint32		id;				/* its number; 0: it is a new one */
	bool		remove;
	TdeDataKey	row;			/* as it is to be, but for what is made of that; master: as for tde_keywrap_wrap() */
	const uint8 *data_key;		/* what is wrapped anew; NULL: nothing, of a destroyed key */
} TdeKeyChange;

/* Change, add and remove rows, in the transaction, which has the table locked against makers of keys. */
extern PGDLLEXPORT void tde_keys_change(List *changes);

/* Add the next version of the hash key, in the transaction, as above; returns it. */
extern int32 tde_keys_renew_hash(void);

/* Registers the transaction callback. */
extern void tde_keys_init(void);

/* Set by whatever may have changed the table; the key cache reads it again and clears it. */
extern PGDLLEXPORT bool tde_keys_changed;

#endif							/* TDE_KEYS_TABLE_H */
