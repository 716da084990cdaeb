/*
 * modifiers.h - what a type modifier stands for, whether it holds that itself or names a row of tde.specifications.
 */
#ifndef TDE_KEYS_MODIFIERS_H
#define TDE_KEYS_MODIFIERS_H

#include "keys/typmod.h"

extern void tde_modifiers_init(void);	/* from _PG_init */

/*
 * The typmod of these modifiers.  Those that do not fit into it are given a row in tde.specifications if they have none, which no
 * rollback takes away; ereport where none can be written (standby, read-only transaction, parallel worker).
 */
extern int32 tde_modifiers_pack(TdeModLayout layout, const TdeModifiers *mods);

/* The same; -1 if they would need a row that is not there. */
extern int32 tde_modifiers_pack_known(TdeModLayout layout, const TdeModifiers *mods);

/* ereport on a typmod that no version of typmod_in can have made. */
extern PGDLLEXPORT TdeModifiers tde_modifiers_unpack(TdeModLayout layout, int32 typmod);

/*
 * The typmod of these modifiers by their row's number, which this process remembers.  For pg_upgrade as well, where the table's rows come
 * after the declarations.
 */
extern int32 tde_modifiers_offer(int32 number, const TdeModifiers *mods);

#endif							/* TDE_KEYS_MODIFIERS_H */
