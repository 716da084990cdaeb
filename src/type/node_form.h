/*
 * node_form.h - the ciphertext form as nodes with the same keys give it to each other in files, told from plaintext by a tag.
 */
#ifndef TDE_TYPE_NODE_FORM_H
#define TDE_TYPE_NODE_FORM_H

#include "lib/stringinfo.h"

#include "type/type.h"

/* Are rows being written that only nodes read?  Output functions then give this form. */
extern PGDLLEXPORT bool tde_node_form_written;

/* Is this a server whose nodes may have written so?  Input functions then take it, too. */
extern bool tde_node_form_accepted;

extern char *tde_node_out(TdeType *type, Datum value);
extern bytea *tde_node_send(TdeType *type, Datum value);

/* The value of a text, or of what is left of a message, which is read then; false if it is not in this form; ereport if it only seems so. */
extern bool tde_node_in(TdeType *type, const char *text, Datum *value);
extern bool tde_node_recv(TdeType *type, StringInfo message, Datum *value);

#endif							/* TDE_TYPE_NODE_FORM_H */
