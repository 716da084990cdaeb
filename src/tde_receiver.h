/*
 * tde_receiver.h - the encrypted columns of a client's SELECT are decrypted when its rows are sent.
 *
 * layer: 9
 */
#ifndef TDE_RECEIVER_H
#define TDE_RECEIVER_H

extern void tde_receiver_init(void);

#endif							/* TDE_RECEIVER_H */
