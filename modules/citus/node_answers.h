/*
 * node_answers.h - what the nodes of a cluster answer to a command.
 */
#ifndef TDE_CITUS_NODE_ANSWERS_H
#define TDE_CITUS_NODE_ANSWERS_H

#include "nodes/pg_list.h"

/* Which nodes are asked. */
typedef enum TdeNodes
{
	TDE_NODES_ALL,				/* this one, too: it waits there for what is locked here */
	TDE_NODES_OTHERS,
	TDE_NODES_COORDINATOR
} TdeNodes;

/* What one node answers, palloc'd. */
typedef struct TdeNodeAnswer
{
	char	   *node;			/* name and port */
	bool		success;
	char	   *text;			/* the result, or the error */
} TdeNodeAnswer;

/*
 * Runs a command on each of the nodes, in a transaction of its own, and returns a list of TdeNodeAnswer.  A node that fails is an answer without
 * success, and no error.  Citus has to be in this database.
 */
extern List *tde_node_answers(TdeNodes nodes, const char *command);

#endif							/* TDE_CITUS_NODE_ANSWERS_H */
