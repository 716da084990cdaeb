/*
 * command.h - shell commands that the DBA has set.
 */
#ifndef TDE_SERVER_COMMAND_H
#define TDE_SERVER_COMMAND_H

/* A command, as its caller has it on the stack.  Nothing is kept of it. */
typedef struct TdeCommand
{
	const char *what;			/* for messages: "passphrase command" */
	const char *text;			/* for the shell */
	int			timeout;		/* in milliseconds */
	const char *timeout_setting;	/* the name of its setting */
	char	   *output;			/* what it prints goes here, with a zero behind it; NULL: to the server's standard error */
	size_t		room;			/* of output, in bytes */
} TdeCommand;

/*
 * Runs it, and waits.  Returns false if it could not be started, printed too much, took too long or did not end with 0, for a reason that is in the
 * server log then.  It is killed, with whatever it has started, if it does not end by itself, and when the statement is canceled.  The output is
 * cleansed unless all went well; the caller cleanses it then.
 */
extern bool tde_command_run(const TdeCommand *command);

#endif							/* TDE_SERVER_COMMAND_H */
