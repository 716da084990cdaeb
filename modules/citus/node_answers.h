/*
 * node_answers.h - what the nodes of a cluster answer to a command.
 */
#ifndef TDE_CITUS_NODE_ANSWERS_H
#define TDE_CITUS_NODE_ANSWERS_H

#include "nodes/pg_list.h"

typedef enum TdeNodes
{
	TDE_NODES_ALL,				/* this one, too: it waits there for what is locked here */
	TDE_NODES_OTHERS,
	TDE_NODES_COORDINATOR
} TdeNodes;

typedef struct TdeNodeAnswer
{
	char	   *node;			/* name and port */
	bool		success;
	char	   *text;			/* the result, or the error */
} TdeNodeAnswer;

/* Runs a command on each of the nodes, in a transaction of its own; a list of TdeNodeAnswer. */
extern List *tde_node_answers(TdeNodes nodes, const char *command);

#endif							/* TDE_CITUS_NODE_ANSWERS_H */
