/*
 * remains.h - copies of values in memory that is free.
 */
#ifndef TDE_SERVER_REMAINS_H
#define TDE_SERVER_REMAINS_H

struct QueryDesc;

/* A value of about so many bytes was encrypted or decrypted: after many, memory is overwritten as soon as it is freed. */
extern void tde_remains_of(Size size);

/* The statement sorts values: not while it runs, unless it is a query. */
extern void tde_remains_of_sort(void);

/* A statement's executor has started.  One ends, and frees its memory. */
extern void tde_remains_at_start(struct QueryDesc *query);
extern void tde_remains_at_end(void);

/* Overwrite memory of this process that nothing uses: the stack below, what memory contexts keep for later, and freed memory. */
extern void tde_remains_cleanse(void);

#endif							/* TDE_SERVER_REMAINS_H */
