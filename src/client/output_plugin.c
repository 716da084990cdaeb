/*
 * output_plugin.c - logical decoding tells the base types, where clients are shown them in the catalogs.
 *
 * PostgreSQL loads an output plugin by its name from the folders of dynamic_library_path.  In the first of them, the folder tde_column beside this
 * library, the library has the names of output plugins (Makefile).  So it is loaded instead, loads the one that is meant, and stands before it.
 *
 * pgoutput looks at the true rows: for row filters, and those of partitions become their root's.  So it gets them, and what it has
 * written is changed: the types of columns in a message that describes a table.  The values are right as they are, since encrypted types have
 * the output of their base types, in text and in binary.  Other plugins print a row by its types: they get rows in the base types.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <unistd.h>

#include "access/htup_details.h"
#include "access/transam.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "replication/logical.h"
#include "replication/logicalproto.h"
#include "replication/slot.h"
#include "utils/array.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "client/catalog_queries.h"
#include "client/catalog_trees.h"
#include "client/output_plugin.h"
#include "client/plain_form.h"
#include "client/result.h"
#include "client/statements.h"
#include "operators/arrays.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/datum.h"
#include "type/opened.h"

extern PGDLLEXPORT void _PG_output_plugin_init(OutputPluginCallbacks *callbacks);

/* A row of a change, as PostgreSQL has it. */
typedef TDE_CHANGED_ROW_TYPE ChangedRow;

/* The plugin in use: a session decodes for one slot at a time. */
typedef struct Decoding
{
	OutputPluginCallbacks callbacks;
	LogicalOutputPluginWriterPrepareWrite prepare_write;
	LogicalOutputPluginWriterWrite write;
	int			begin;			/* of pgoutput's message in its buffer */
	bool		streaming;		/* of a transaction in progress: messages tell its number */
	MemoryContext change;		/* for what other plugins get of one change */
} Decoding;

static Decoding decoding;

/* ---- pgoutput: the types in its messages ---- */

/*
 * Changes the types in the message about a table, in place, as the message has the same length then: its number, names, replica identity, and its
 * columns.  message: read behind the message's kind and transaction.  The protocol: logicalrep_write_rel() in proto.c.
 */
static void
show_columns(StringInfo out, StringInfo message)
{
	int			count;

	(void) pq_getmsgint(message, 4);
	(void) pq_getmsgrawstring(message);
	(void) pq_getmsgrawstring(message);
	(void) pq_getmsgbyte(message);
	count = pq_getmsgint(message, 2);
	for (int i = 0; i < count; i++)
	{
		uint32		shown[2];
		int			place;
		Oid			type;

		CHECK_FOR_INTERRUPTS();
		(void) pq_getmsgbyte(message);
		(void) pq_getmsgrawstring(message);
		place = message->cursor;
		type = pq_getmsgint(message, 4);
		shown[0] = pg_hton32(tde_catalog_shown_type(type));
		shown[1] = pg_hton32((uint32) tde_catalog_shown_typmod(type, (int32) pq_getmsgint(message, 4)));
		memcpy(out->data + place, shown, sizeof(shown));
	}
}

/*
 * A message about a type that is not PostgreSQL's own is written once more, of the base type.  Returns false if nothing is to be told, since that one
 * is PostgreSQL's own.
 */
static bool
show_type(StringInfo out, StringInfo message, TransactionId xid)
{
	Oid			type = pq_getmsgint(message, 4);
	Oid			shown = tde_catalog_shown_type(type);

	if (shown == type)
		return true;
	out->len = decoding.begin;
	logicalrep_write_typ(out, xid, shown);
	return shown >= FirstGenbkiObjectId;
}

/* Returns false if the message is not to be sent.  Most messages have rows, and pass after a look at their first byte. */
static bool
show_types(StringInfo out)
{
	StringInfoData message = *out;
	TransactionId xid = InvalidTransactionId;
	int			kind;

	message.cursor = decoding.begin;
	kind = pq_getmsgbyte(&message);
	if (kind == LOGICAL_REP_MSG_STREAM_START || kind == LOGICAL_REP_MSG_STREAM_STOP)
		decoding.streaming = kind == LOGICAL_REP_MSG_STREAM_START;
	if (kind != LOGICAL_REP_MSG_RELATION && kind != LOGICAL_REP_MSG_TYPE)
		return true;
	if (decoding.streaming)
		xid = pq_getmsgint(&message, 4);
	if (kind == LOGICAL_REP_MSG_TYPE)
		return show_type(out, &message, xid);
	show_columns(out, &message);
	return true;
}

/* Before its message a walsender writes one of its own. */
static void
prepare_write(LogicalDecodingContext *context, XLogRecPtr place, TransactionId xid, bool last)
{
	decoding.prepare_write(context, place, xid, last);
	decoding.begin = context->out->len;
}

static void
write_shown(LogicalDecodingContext *context, XLogRecPtr place, TransactionId xid, bool last)
{
	if (show_types(context->out))
		decoding.write(context, place, xid, last);
}

static void
output_plugin_startup(LogicalDecodingContext *context, OutputPluginOptions *options, bool is_init)
{
	decoding.prepare_write = context->prepare_write;
	decoding.write = context->write;
	context->prepare_write = prepare_write;
	context->write = write_shown;
	decoding.callbacks.startup_cb(context, options, is_init);
}

/* ---- others: rows in the base types ---- */

/* As the output functions do, an error tells who may not see it: masks would be taken for values, and for keys. */
static Datum
decrypt(TdeType *type, Datum value, int32 declared, int32 base_typmod, bool *isnull)
{
	tde_access_check(type, value);
	return tde_datum_decrypt_once(type, value, declared);
}

static Datum
show_value(Form_pg_attribute attribute, Datum value)
{
	TdePlainColumn column;
	TdeDecrypted *place = NULL;

	if (tde_result_type(attribute->atttypid) == NULL)
		return value;
	column = tde_plain_column(attribute->atttypid, attribute->atttypmod);
	tde_opened_value(&place, (TdeColumn) {attribute->attrelid, attribute->attnum}, value, column.is_array);
	if (column.is_array)
		return PointerGetDatum(tde_array_decrypt(column.type, DatumGetArrayTypeP(value), column.declared, column.base_typmod, decrypt));
	return decrypt(column.type, value, column.declared, column.base_typmod, NULL);
}

/*
 * A row.  What an UPDATE has left in its TOAST table is not at hand.  A base type without TOAST has no way to say so: plugins are shown no such
 * column.
 */
static ChangedRow *
show_row(ChangedRow *row, TupleDesc rows, TupleDesc plain)
{
	Datum	   *values;
	bool	   *nulls;
	ChangedRow *shown;

	if (row == NULL)
		return NULL;
	values = palloc(rows->natts * sizeof(Datum));
	nulls = palloc(rows->natts * sizeof(bool));
	shown = palloc0(sizeof(ChangedRow));
	heap_deform_tuple(TDE_CHANGED_ROW(row), rows, values, nulls);
	for (int i = 0; i < rows->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(rows, i);

		CHECK_FOR_INTERRUPTS();
		if (nulls[i] || attribute->attisdropped)
			continue;
		if (attribute->attlen != -1 || !VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(values[i])))
			values[i] = show_value(attribute, values[i]);
		else if (TupleDescAttr(plain, i)->attlen != -1)
			nulls[i] = TupleDescAttr(plain, i)->attisdropped = true;
	}
	*TDE_CHANGED_ROW(shown) = *heap_form_tuple(plain, values, nulls);
	TDE_CHANGED_ROW(shown)->t_self = TDE_CHANGED_ROW(row)->t_self;
	TDE_CHANGED_ROW(shown)->t_tableOid = TDE_CHANGED_ROW(row)->t_tableOid;
	return shown;
}

/* In copies of what PostgreSQL has of the table and of the change.  The copy knows all that the plugin may ask, and so looks nothing up. */
static void
show_change(LogicalDecodingContext *context, ReorderBufferTXN *txn, Relation table, ReorderBufferChange *change, LogicalDecodeChangeCB next)
{
	MemoryContext before;
	RelationData shown_table;
	ReorderBufferChange shown = *change;
	TupleDesc	plain;

	if (decoding.change == NULL)
		decoding.change = AllocSetContextCreate(context->context, "tde change", ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(decoding.change);
	before = MemoryContextSwitchTo(decoding.change);
	plain = tde_plain_descriptor(RelationGetDescr(table), false);
	if (plain)
	{
		/* what the type of a row does not have */
		for (int i = 0; i < plain->natts; i++)
			TupleDescAttr(plain, i)->attnotnull = TupleDescAttr(RelationGetDescr(table), i)->attnotnull;
		shown.data.tp.oldtuple = show_row(change->data.tp.oldtuple, RelationGetDescr(table), plain);
		shown.data.tp.newtuple = show_row(change->data.tp.newtuple, RelationGetDescr(table), plain);
		(void) RelationGetIndexList(table);
		(void) RelationGetIndexAttrBitmap(table, INDEX_ATTR_BITMAP_IDENTITY_KEY);
		shown_table = *table;
		shown_table.rd_att = plain;
	}
	MemoryContextSwitchTo(before);
	next(context, txn, plain ? &shown_table : table, plain ? &shown : change);
}

static void
change_shown(LogicalDecodingContext *context, ReorderBufferTXN *txn, Relation table, ReorderBufferChange *change)
{
	show_change(context, txn, table, change, decoding.callbacks.change_cb);
}

static void
stream_change_shown(LogicalDecodingContext *context, ReorderBufferTXN *txn, Relation table, ReorderBufferChange *change)
{
	show_change(context, txn, table, change, decoding.callbacks.stream_change_cb);
}

/* ---- the plugin is loaded ---- */

/* Throws ERRCODE_INVALID_PARAMETER_VALUE for a slot whose plugin is this library itself, which would load itself for ever. */
static void
load(const char *name, OutputPluginCallbacks *callbacks)
{
	LogicalOutputPluginInit init = (LogicalOutputPluginInit) load_external_function(name, "_PG_output_plugin_init", true, NULL);

	if (init == _PG_output_plugin_init)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is not an output plugin", name),
				 errdetail("It is a name of the library tde_column."),
				 errhint("Name the plugin that is to be used, such as pgoutput or wal2json.")));
	init(callbacks);
}

/* Where PostgreSQL has found this library: in $libdir, or in another folder of the path, such as that of a container's volume. */
static const char *
library_folder(void)
{
	static char folder[MAXPGPATH] = "";
	Dl_info		file;

	if (folder[0] == '\0' && dladdr(library_folder, &file) != 0)
	{
		strlcpy(folder, file.dli_fname, sizeof(folder));
		get_parent_directory(folder);
	}
	return folder;
}

/* The folder of plugins' names, as it is in the path, and a colon. */
static char *
first_in_path(void)
{
	return psprintf("%s/tde_column:", strcmp(library_folder(), pkglib_path) == 0 ? "$libdir" : library_folder());
}

/* The plugin that PostgreSQL finds in the folders after ours, which may itself look for one (Citus' do). */
static void
load_meant(const char *name, OutputPluginCallbacks *callbacks)
{
	char	   *path = Dynamic_library_path;
	const char *first = first_in_path();
	char	   *ours = strstr(path, first);

	Dynamic_library_path = ours ? ours + strlen(first) : "$libdir";
	PG_TRY();
	{
		load(name, callbacks);
	}
	PG_FINALLY();
	{
		Dynamic_library_path = path;
	}
	PG_END_TRY();
}

void
_PG_output_plugin_init(OutputPluginCallbacks *callbacks)
{
	const char *name = NameStr(MyReplicationSlot->data.plugin);

	load_meant(name, callbacks);
	if (!tde_client_catalog_is_transparent())
		return;
	memset(&decoding, 0, sizeof(decoding));
	decoding.callbacks = *callbacks;
	if (strcmp(name, "pgoutput") == 0)
		callbacks->startup_cb = output_plugin_startup;
	else
	{
		callbacks->change_cb = change_shown;
		if (callbacks->stream_change_cb)
			callbacks->stream_change_cb = stream_change_shown;
	}
}

/* The server is starting: its log is where the administrator will look when a subscriber has the wrong types. */
static void
tell_not_followed(const char *detail, const char *hint)
{
	ereport(WARNING,
			(errmsg("logical decoding does not follow \"tde_column.transparent_catalog\""),
			 errdetail("%s", detail),
			 errhint("%s", hint)));
}

/*
 * Our folder comes first in the path.  Whoever has set a path without it is told, and so is who has packed the library without the folder.  But in
 * a volume the path is that of the program which mounts it, and always begins with $libdir: there it is changed, and cannot be set until the next start.
 */
void
tde_output_plugin_init(void)
{
	const char *first = first_in_path();
	char	   *plugin = psprintf("%s/tde_column/pgoutput%s", library_folder(), DLSUFFIX);
	char	   *path = psprintf("%s%s", first, Dynamic_library_path);

	if (access(plugin, R_OK) != 0)
	{
		tell_not_followed(psprintf("There is no file \"%s\".", plugin), "\"make install\" makes this folder.");
		return;
	}
	if (strstr(Dynamic_library_path, first) == NULL)
		SetConfigOption("dynamic_library_path", path, PGC_POSTMASTER, PGC_S_DYNAMIC_DEFAULT);
	if (strstr(Dynamic_library_path, first) == NULL && strcmp(library_folder(), pkglib_path) != 0)
		SetConfigOption("dynamic_library_path", path, PGC_POSTMASTER, PGC_S_ARGV);
	if (strstr(Dynamic_library_path, first) == NULL)
		tell_not_followed("Output plugins are not loaded from the folder \"tde_column\" beside the library.",
						  psprintf("Let \"dynamic_library_path\" begin with \"%s\".", first));
}
