/*
 * counters.h - how many values each key has encrypted since the server started.
 */
#ifndef TDE_SERVER_COUNTERS_H
#define TDE_SERVER_COUNTERS_H

/* This process's counter for a data key of its database, to be incremented for each value; it stays where it is. */
extern uint64 *tde_count_for(uint32 key_id);

/* What all processes have counted for a key; up to the last end of a transaction in each. */
extern uint64 tde_count_read(uint32 key_id);

/* The same for all keys of all databases. */
extern uint64 tde_count_read_all(void);

extern void tde_count_init(void);

#endif							/* TDE_SERVER_COUNTERS_H */
