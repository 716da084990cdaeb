/*
 * remains.h - copies of values in memory that is free.
 */
#ifndef TDE_SERVER_REMAINS_H
#define TDE_SERVER_REMAINS_H

/* A value of about so many bytes was encrypted or decrypted.  After many, memory is overwritten as soon as it is freed. */
extern void tde_remains_of(Size size);

/* The statement sorts values.  Until it ends, freed memory is not overwritten: sorts take memory that they may never write to. */
extern void tde_remains_of_sort(void);

/* One of these has happened.  Otherwise there is nothing to do when a statement begins, or ends. */
extern bool tde_remains_any;

/* A statement begins; a statement, or a transaction, ends and frees its memory. */
extern void tde_remains_at_start(void);
extern void tde_remains_at_end(void);

/*
 * Overwrites memory of this process that nothing uses: the stack below, what memory contexts keep for later, and freed memory.  It takes milliseconds
 * and does not throw.
 */
extern void tde_remains_cleanse(void);

#endif							/* TDE_SERVER_REMAINS_H */
