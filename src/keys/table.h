/*
 * table.h - the table tde.data_keys: wrapped data keys, read and added.
 *
 * Rows are added like sequences advance: outside the transaction, so that no rollback and no crash takes away a key under
 * which something may already be encrypted.
 *
 * Changes of what is there are usual changes of a transaction: a rollback takes them back.  After some of them the transaction makes no new keys
 * (refuse_after_changes() and refuse_after_freeing() in table_write.c).  Whoever reads gets copies of rows, and sees the newest committed ones, also
 * in a transaction of older snapshots.
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

/* How far a version is in its life; the column state.  The wrapped key holds it as well, so unwrapping notices another one. */
#define TDE_STATE_ACTIVE	'a'
#define TDE_STATE_PREPARED	'p' /* not yet for new values: the next version, which other databases are to have before */
#define TDE_STATE_RETIRED	'r' /* never for new values: an imported one */
#define TDE_STATE_DESTROYED	'd' /* for no values any more; the row stays, for declarations and messages */

/* Sees a row, which is its caller's and good until it returns.  It may not change the table. */
typedef void (*TdeDataKeyVisitor) (const TdeDataKey *row, void *arg);

/*
 * Returns the OID of tde.data_keys; InvalidOid if the extension is not in this database.  It is looked up once, and again after the table has
 * changed.
 */
extern PGDLLEXPORT Oid tde_keys_relid(void);

/* Returns the same, or throws ERRCODE_UNDEFINED_OBJECT. */
extern PGDLLEXPORT Oid tde_keys_require(void);

/* Returns the slot of a key by its name ("default" and "catalog" included); TDE_NO_SLOT if no key has the name, or only one that was destroyed. */
extern int32 tde_keys_slot(const char *name);

/* Returns the same for the name in a declaration, which may mean a destroyed key as well (see TdeSlotName). */
extern int32 tde_keys_declared_slot(const char *name);

/*
 * The name of a slot's key, as declarations print it.  Of one that was destroyed, and whose name another key has by now, it is NAME~destroyed~SLOT.
 */
typedef struct TdeSlotName
{
	bool		exists;			/* the slot has, or had, a key */
	bool		destroyed;		/* the slot's key was */
	char		name[NAMEDATALEN];	/* empty: it has none, as keys that every database has */
} TdeSlotName;

/* Returns the name by value.  It reads the table, under no lock that lasts. */
extern TdeSlotName tde_keys_name(int32 slot);

/* Returns what messages call a key: its name, or for want of one the number of its slot.  It may point into the row. */
extern PGDLLEXPORT const char *tde_keys_called(const TdeDataKey *row);

/* Returns the same for a slot, palloc'd.  It reads the table. */
extern PGDLLEXPORT const char *tde_keys_slot_called(int32 slot);

/* Throws ERRCODE_DUPLICATE_OBJECT if a key has this name, or declarations print it for a destroyed one. */
extern void tde_keys_refuse_taken(const char *name);

/* Returns true if no key has this name, and no destroyed one had it. */
extern bool tde_keys_is_free(const char *name);

/* Throws ERRCODE_UNDEFINED_OBJECT: a declaration names a key that is not there. */
pg_noreturn extern void tde_keys_missing(const char *name);

/*
 * Gives the rows of this name a description, in the transaction; NULL: none.  Returns how many rows there are.  The transaction cannot be prepared
 * then.
 */
extern int	tde_keys_describe(const char *name, const char *description);

/* Returns the slot of this name, or throws ERRCODE_UNDEFINED_OBJECT. */
extern int32 tde_keys_require_slot(const char *name);

/* Returns true if it is not for new values: imported, or not yet activated.  One that was destroyed is for no values at all. */
static inline bool
tde_keys_only_reads(const TdeDataKey *row)
{
	return row->state == TDE_STATE_RETIRED || row->state == TDE_STATE_PREPARED;
}

/*
 * Returns true if new values of the slot and kind rather take this row than best, the one found so far (NULL: none).  That is the highest version
 * that was not imported.  A destroyed one may win, and tells that there is none.
 */
extern bool tde_keys_is_newer(const TdeDataKey *row, int32 slot, char kind, const TdeDataKey *best);

/*
 * Visit every row, or those of a slot, under a snapshot of its own (historic while decoding).  Both throw as tde_keys_require() does, and
 * ERRCODE_LOCK_NOT_AVAILABLE if a page of an index is held and somebody has the table locked.
 */
extern PGDLLEXPORT void tde_keys_scan(TdeDataKeyVisitor visit, void *arg);
extern void tde_keys_scan_slot(int32 slot, TdeDataKeyVisitor visit, void *arg);

/* Returns all rows as a list of TdeDataKey, palloc'd. */
extern PGDLLEXPORT List *tde_keys_rows(void);

/* Copy the row of a key by its number, or by its UUID.  They return false if there is none; found->id is 0 then. */
extern PGDLLEXPORT bool tde_keys_find(uint32 id, TdeDataKey *found);
extern bool tde_keys_find_uuid(const uint8 uuid[16], TdeDataKey *found);

/*
 * Makes sure that the slot has an active key of this kind, or was destroyed: makes its first version if not.  A slot that has no key at all stays so.
 * Returns false if none can be made here (wallet closed, recovery, parallel mode, read-only transaction, extension not installed).
 */
extern bool tde_keys_ensure(int32 slot, char kind);

/* Makes sure of the keys that every database needs: slot 0, catalog and hash.  Returns false as above. */
extern bool tde_keys_ensure_basic(void);

/* Makes sure of these, and for each slot of active keys of one of the kind for values without MAC, as far as they can be made here. */
extern PGDLLEXPORT void tde_keys_ensure_all(void);

/*
 * Makes a key of this name, in a slot of its own, whose number it returns.  The key is there at once and for good.  master: id of a wrapping key that
 * the wallet has for this key alone, whose removal destroys it; NULL: the current one.  Throws ERRCODE_DUPLICATE_OBJECT,
 * ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE after other changes of the transaction, and whatever else keeps keys from being made.
 */
extern int32 tde_keys_create(const char *name, const uint8 *master);

/* Returns the slot of the key of this name, which is made if there is none; *created tells.  Throws as above. */
extern int32 tde_keys_find_or_create(const char *name, bool *created);

/*
 * Makes the next version of each of the slot's active keys, there at once and for good, in this state: TDE_STATE_ACTIVE or TDE_STATE_PREPARED.  If
 * there is a prepared one already, that is taken for it.  Returns the highest version, 0 if the slot has no active key.
 */
extern int32 tde_keys_make_next(int32 slot, char state);

/* Has the prepared versions of the slot's keys be for new values, from the commit on. */
extern void tde_keys_activate(int32 slot);

/*
 * Makes another version in place of this one, unless that has been done.  wait: until others have made or changed keys.  Returns false if it cannot
 * be done now.  It throws no more than what inserting a row, and waiting, may: the end of a transaction calls it.
 */
extern bool tde_keys_replace(uint32 id, bool wait);

/* Returns the milliseconds since the key was made; 0 if there is no such key. */
extern long tde_keys_age(uint32 id);

/*
 * Which slot here stands for the slot of the key that was imported last; both TDE_NO_SLOT at first.  So the versions of one key, which follow each
 * other in an export, get one slot, also if they have no name here.
 */
typedef struct TdeSlotMap
{
	int32		there;
	int32		here;
} TdeSlotMap;

/*
 * Adds a key that another database has made, for reading only.  Its slot is the one of the same name, or of the same number if that is free or has no
 * name either; else a new one.  Version and number are its own here.
 *
 * Returns false if the key is here already and can be unwrapped.  If it cannot be, since the wallet lacks its master key, it is wrapped by the
 * current one, in the transaction.  The caller cleanses data_key.
 */
extern PGDLLEXPORT bool tde_keys_import(const TdeDataKey *imported, const uint8 data_key[TDE_DATA_KEY_SIZE], TdeSlotMap *map);

/* Changes *row and returns true, or returns false: the row stays as it is. */
typedef bool (*TdeDataKeyEditor) (TdeDataKey *row, void *arg);

/*
 * Changes rows, in the transaction: edit() sees each one and says whether it has changed state, name, master, check value or wrapped.  Nobody else
 * can change the table until the transaction ends.  Returns how many were changed.  It takes the lock itself.
 */
extern int	tde_keys_edit(TdeDataKeyEditor edit, void *arg);

/* What becomes of a row. */
typedef struct TdeKeyChange
{
	uint32		id;				/* its number; 0: it is a new one */
	bool		remove;
	TdeDataKey	row;			/* as it is to be, but for what is made of that; master: as for tde_keywrap_wrap() */
	const uint8 *data_key;		/* what is wrapped anew; NULL: nothing, of a destroyed key */
} TdeKeyChange;

/*
 * Changes, adds and removes rows (a list of TdeKeyChange) in the transaction.  The caller has the table locked against makers of keys until that
 * ends.  New rows get their numbers here.
 */
extern PGDLLEXPORT void tde_keys_change(List *changes);

/*
 * Adds the next version of the hash key, in the transaction, as above, and returns it.  Throws if the wallet lacks the master key of an earlier one.
 */
extern int32 tde_keys_renew_hash(void);

/* From _PG_init: follows changes of the table. */
extern void tde_keys_init(void);

/* Set by whatever may have changed the table, callbacks among it; the key cache alone clears it, and reads the table again. */
extern PGDLLEXPORT bool tde_keys_changed;

#endif							/* TDE_KEYS_TABLE_H */
