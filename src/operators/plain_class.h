/*
 * plain_class.h - operator classes of encrypted types as those of plain columns.
 */
#ifndef TDE_OPERATORS_PLAIN_CLASS_H
#define TDE_OPERATORS_PLAIN_CLASS_H

#include "type/type.h"

/* The operator class of the base type that an encrypted type's stands for; any other as it is. */
extern PGDLLEXPORT Oid tde_plain_class(Oid opclass);

/* A definition, as PostgreSQL has printed it, with that one's name in place of a class's, without the salt of an index of GIN; palloc'd, or the same. */
extern PGDLLEXPORT char *tde_plain_class_text(char *definition, Oid opclass);

#endif							/* TDE_OPERATORS_PLAIN_CLASS_H */
