/*
 * node_form.h - the ciphertext form as nodes with the same keys give it to each other in files, told from plaintext by a tag.
 *
 * Rows that Citus moves between nodes go through files, which must not have plaintext.  The module for Citus says when such rows are written; input
 * functions know the form by its beginning, and trust it by its tag.
 */
#ifndef TDE_TYPE_NODE_FORM_H
#define TDE_TYPE_NODE_FORM_H

#include "lib/stringinfo.h"

#include "type/type.h"

/* True while rows are written that only nodes read.  Output functions then give this form. */
extern PGDLLEXPORT bool tde_node_form_written;

/* True on a server whose nodes may have written so: where Citus is loaded.  Input functions then take it, too. */
extern bool tde_node_form_accepted;

/* Return the form of a value, as text and in binary, palloc'd.  Throw as tde_ciphertext_out() does, and if the wallet is closed. */
extern char *tde_node_out(TdeType *type, Datum value);
extern bytea *tde_node_send(TdeType *type, Datum value);

/*
 * Sets *value to that of a text, or of what is left of a message, which is read then.  Returns false if it is not in this form.  Throws
 * ERRCODE_TDE_NOT_AUTHENTIC if it only seems so.
 */
extern bool tde_node_in(TdeType *type, const char *text, Datum *value);
extern bool tde_node_recv(TdeType *type, StringInfo message, Datum *value);

#endif							/* TDE_TYPE_NODE_FORM_H */
