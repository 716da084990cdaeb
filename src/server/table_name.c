/*
 * table_name.c - a table's name as statements have it.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "server/table_name.h"

char *
tde_table_name(Oid table)
{
	char	   *name = get_rel_name(table);
	char	   *schema = name ? get_namespace_name(get_rel_namespace(table)) : NULL;

	return schema ? quote_qualified_identifier(schema, name) : NULL;
}
