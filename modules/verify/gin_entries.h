/*
 * gin_entries.h - does a GIN index of encrypted values have the entries of its table's rows, and no others?
 */
#ifndef TDE_VERIFY_GIN_ENTRIES_H
#define TDE_VERIFY_GIN_ENTRIES_H

#include "verify/entries.h"

/* The caller has taken the snapshot before. */
extern void tde_gin_entries_verify(TdeEntries *entries);

#endif							/* TDE_VERIFY_GIN_ENTRIES_H */
