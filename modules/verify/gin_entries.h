/*
 * gin_entries.h - whether a GIN index of encrypted values has the entries of its table's rows, and no others.
 */
#ifndef TDE_VERIFY_GIN_ENTRIES_H
#define TDE_VERIFY_GIN_ENTRIES_H

#include "verify/entries.h"

/* Reports each row that lacks an entry, and each entry that its row does not have.  The caller has taken the snapshot before. */
extern void tde_gin_entries_verify(TdeEntries *entries);

#endif							/* TDE_VERIFY_GIN_ENTRIES_H */
