/*
 * lexeme_statistics.h - the most common lexemes of encrypted tsvectors.
 */
#ifndef TDE_TYPE_LEXEME_STATISTICS_H
#define TDE_TYPE_LEXEME_STATISTICS_H

#include "commands/vacuum.h"
#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"

#include "type/type.h"

/* Is this how ANALYZE looks at a column of this type? */
extern bool tde_lexemes_are_of(const TdeType *type);

/* A typanalyze, and what it sets: what ts_typanalyze() does, of such a column. */
extern bool tde_lexemes_typanalyze(VacAttrStats *stats);

/* get_relation_stats_hook and get_index_stats_hook: false if they have nothing to say. */
extern bool tde_lexemes_of_column(RangeTblEntry *entry, AttrNumber column, VariableStatData *variable);
extern bool tde_lexemes_of_index(Oid index, AttrNumber column, VariableStatData *variable);

#endif							/* TDE_TYPE_LEXEME_STATISTICS_H */
