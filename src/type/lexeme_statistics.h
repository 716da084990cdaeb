/*
 * lexeme_statistics.h - the most common lexemes of encrypted tsvectors.
 */
#ifndef TDE_TYPE_LEXEME_STATISTICS_H
#define TDE_TYPE_LEXEME_STATISTICS_H

#include "commands/vacuum.h"
#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"

#include "type/type.h"

/* Returns true if ANALYZE looks at a column of this type so.  type may be NULL: it is no encrypted one. */
extern bool tde_lexemes_are_of(const TdeType *type);

/* A typanalyze function, and what it sets: does what ts_typanalyze() does, of such a column.  Returns false if it is not to be analyzed. */
extern bool tde_lexemes_typanalyze(VacAttrStats *stats);

/*
 * Parts of get_relation_stats_hook and get_index_stats_hook.  Return false if they have nothing to say, and true if variable->statsTuple was set,
 * which variable->freefunc frees; it has those lexemes that the query searches for.  They decrypt, so they have nothing to say to who may not, or
 * while the wallet is closed.
 */
extern bool tde_lexemes_of_column(PlannerInfo *root, RangeTblEntry *entry, AttrNumber column, VariableStatData *variable);
extern bool tde_lexemes_of_index(PlannerInfo *root, Oid index, AttrNumber column, VariableStatData *variable);

#endif							/* TDE_TYPE_LEXEME_STATISTICS_H */
