/*
 * parse_probe.c - what a statement means: a hash of its tree after parse analysis, or the error.
 *
 * Two databases that give the same hash for a statement mean the same by it, to the last operator, cast and type.  The places in the
 * text, which the tree holds as well, do not count.
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(parse_tree);

/* The number after each "location " becomes nothing. */
static void
forget_places(char *tree)
{
	char	   *to = tree;

	for (char *from = tree; *from;)
	{
		bool		place = strncmp(from, "location ", 9) == 0 || strncmp(from, "stmt_len ", 9) == 0;

		if (place)
		{
			from += 9;
			from += strspn(from, "-0123456789");
		}
		else
			*to++ = *from++;
	}
	*to = '\0';
}

static char *
meaning(const char *statement)
{
	Oid		   *types = NULL;
	int			ntypes = 0;
	List	   *raw = raw_parser(statement, RAW_PARSE_DEFAULT);
	char	   *tree = nodeToString(parse_analyze_varparams(linitial_node(RawStmt, raw), statement, &types, &ntypes, NULL));

	forget_places(tree);
	return psprintf(UINT64_FORMAT, DatumGetUInt64(hash_any_extended((unsigned char *) tree, strlen(tree), 0)));
}

Datum
parse_tree(PG_FUNCTION_ARGS)
{
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(0));
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	char	   *volatile result = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		result = meaning(statement);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		result = psprintf("ERROR %s", error->message);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	PG_RETURN_TEXT_P(cstring_to_text(result));
}
