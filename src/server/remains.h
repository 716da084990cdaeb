/*
 * remains.h - copies of values in memory that is free.
 */
#ifndef TDE_SERVER_REMAINS_H
#define TDE_SERVER_REMAINS_H

/* A value of about so many bytes was encrypted or decrypted: after many, memory is overwritten as soon as it is freed. */
extern void tde_remains_of(Size size);

/* The statement sorts values: not while it runs. */
extern void tde_remains_of_sort(void);

/* Has one of these happened?  Otherwise there is nothing to do when a statement begins, or ends. */
extern bool tde_remains_any;

/* A statement begins.  One ends, and frees its memory. */
extern void tde_remains_at_start(void);
extern void tde_remains_at_end(void);

/* Overwrite memory of this process that nothing uses: the stack below, what memory contexts keep for later, and freed memory. */
extern void tde_remains_cleanse(void);

#endif							/* TDE_SERVER_REMAINS_H */
