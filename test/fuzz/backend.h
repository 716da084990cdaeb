/*
 * backend.h - as much of a server as the files of src that need one call while they parse: memory, errors, messages.
 *
 * The files are compiled as they are, against PostgreSQL's own headers, and linked with its libraries libpgcommon and libpgport.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "postgres.h"

/*
 * Call it.  False if it raised an error, which is then not an internal one, has a code and a message that could be written.  What it
 * palloc'd is freed in either case: call what looks at its results inside.
 */
extern bool backend_try(void (*call) (void *), void *arg);

/* Warnings since the start. */
extern int	backend_warnings;

#endif							/* BACKEND_H */
