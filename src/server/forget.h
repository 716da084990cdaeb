/*
 * forget.h - how every process comes to forget the secrets that it keeps in memory of its own, the idle ones too.
 */
#ifndef TDE_SERVER_FORGET_H
#define TDE_SERVER_FORGET_H

/*
 * What asks for it is an invalidation of the relation cache for an OID that no relation has (those of pg_class begin above
 * FirstGenbkiObjectId or were assigned by hand, and 1 is a database).  The module that follows such invalidations calls
 * tde_forget_here() for this one: PostgreSQL has room for ten callbacks of all libraries together.
 */
#define TDE_FORGET_RELID	1

/* Something that is to be forgotten was made: ready keys, and so whatever is decrypted with them. */
extern bool tde_secrets_held;

/* From _PG_init: what cleanses it.  May be called wherever PostgreSQL accepts invalidations; must not look at catalogs. */
extern void tde_forget_by(void (*forget) (void));

/* Forget it now, in this process; then cleanse what is left of it on the stack and in freed memory. */
extern void tde_forget_here(void);

/* In every process: at once in idle ones, in others when they look at the invalidations next, at the end of a statement at last. */
extern void tde_forget_everywhere(void);

extern void tde_forget_init(void);	/* from _PG_init */

#endif							/* TDE_SERVER_FORGET_H */
