/*
 * remains.h - copies of values in memory that is free.
 */
#ifndef TDE_SERVER_REMAINS_H
#define TDE_SERVER_REMAINS_H

/* Overwrite memory of this process that nothing uses: the stack below, what memory contexts keep for later, and freed memory. */
extern void tde_remains_cleanse(void);

#endif							/* TDE_SERVER_REMAINS_H */
