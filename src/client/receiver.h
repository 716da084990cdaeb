/*
 * receiver.h - the encrypted columns of a client's SELECT are decrypted when its rows are sent.
 */
#ifndef TDE_CLIENT_RECEIVER_H
#define TDE_CLIENT_RECEIVER_H

#include "nodes/parsenodes.h"

/*
 * The SELECT of this text that is planned next was analyzed just now, and its columns are to be decrypted although it does
 * not say so.  NULL: there is none.
 */
extern void tde_receiver_await(Query *query, const char *source);

extern void tde_receiver_init(void);

#endif							/* TDE_CLIENT_RECEIVER_H */
