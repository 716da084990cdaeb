/*
 * declared_type.c - the type that a statement declares for a column, and the encrypted one that stands for a plain one.
 *
 * Here are the rules that both ways of declaring share, the hook before a command (declare.c, alter_table.c) and the event trigger after it
 * (declare_trigger.c), and those of the modifier function (typmod_functions.c).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "ddl/declared_type.h"
#include "keys/modifiers.h"
#include "keys/required.h"
#include "server/compat.h"
#include "type/base_functions.h"
#include "type/inside.h"
#include "type/plain_bytes.h"

int			tde_plaintext_alter = TDE_ALTER_KEEP;
bool		tde_plaintext_allowed = false;

bool
tde_declared_exists(const RangeVar *relation)
{
	return OidIsValid(get_relname_relid(relation->relname, RangeVarGetCreationNamespace(relation)));
}

TdeType *
tde_ddl_encrypted(Oid type)
{
	Oid			element = get_element_type(type);

	return tde_type_find(OidIsValid(element) ? element : type);
}

ColumnDef *
tde_ddl_declared_column(const AlterTableCmd *cmd)
{
	if ((cmd->subtype != AT_AddColumn && cmd->subtype != AT_AlterColumnType) || cmd->def == NULL || !IsA(cmd->def, ColumnDef))
		return NULL;
	return (ColumnDef *) cmd->def;
}

ColumnDef *
tde_ddl_declared_by_name(const TdeAlterTable *alter, const char *name)
{
	ListCell   *cell;

	foreach(cell, alter->stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(cell);
		ColumnDef  *def = tde_ddl_declared_column(cmd);

		if (def && strcmp(cmd->subtype == AT_AlterColumnType ? cmd->name : def->colname, name) == 0)
			return def;
	}
	return NULL;
}

/* A lookup of %TYPE would repeat PostgreSQL's NOTICE. */
bool
tde_declared_type(ColumnDef *def, Oid *type, int32 *typmod)
{
	Oid			found = def->typeName->setof || def->typeName->pct_type ? InvalidOid : LookupTypeNameOid(NULL, def->typeName, true);

	if (!OidIsValid(found) || tde_type_holds_encrypted(found))
		return false;
	typenameTypeIdAndMod(NULL, def->typeName, type, typmod);
	return true;
}

/*
 * Where pad=max means nothing for the new type, which declares no length, values are padded as they were in the old one.  An order that the new type
 * cannot hide is not declared hidden.
 */
bool
tde_declared_like(Oid like, int32 declared, Oid *type, int32 *typmod)
{
	TdeType    *own = tde_ddl_encrypted(getBaseTypeAndTypmod(like, &declared));
	Oid			element = get_element_type(*type);
	TdeType    *encrypted = own ? tde_type_of_base(OidIsValid(element) ? element : *type) : NULL;
	TdeModifiers modifiers;
	size_t		pad;

	if (encrypted == NULL || !tde_typmod_base_valid(encrypted->layout, *typmod))
		return false;
	modifiers = declared >= 0 ? tde_type_modifiers(own, declared) : tde_ddl_default_modifiers(encrypted->base);
	modifiers.unordered = modifiers.unordered && tde_base_can_hide_order(encrypted->base);
	tde_ddl_check_spec(encrypted->base, modifiers.spec);
	pad = tde_plain_pad(own->base, &modifiers);
	modifiers.base_typmod = *typmod;
	if (tde_plain_pad(encrypted->base, &modifiers) == 0)
		tde_plain_pad_as(&modifiers, encrypted->base, pad);
	*typmod = tde_modifiers_pack(encrypted->layout, &modifiers);
	*type = OidIsValid(element) ? get_array_type(encrypted->oid) : encrypted->oid;
	return true;
}

const char *
tde_ddl_encrypted_name(Oid base)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
	const char *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", base);
	name = quote_identifier(psprintf("encrypted_%s", NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname)));
	ReleaseSysCache(tuple);
	return name;
}

TdeModifiers
tde_ddl_default_modifiers(Oid base)
{
	TdeModifiers modifiers = tde_default_modifiers;

	modifiers.unordered = modifiers.unordered && tde_base_can_hide_order(base);
	tde_plain_pad_as(&modifiers, base, modifiers.pad);
	return modifiers;
}

int32
tde_ddl_default_typmod(TdeType *type)
{
	TdeModifiers modifiers = tde_ddl_default_modifiers(type->base);

	tde_ddl_check_spec(type->base, modifiers.spec);
	return tde_modifiers_pack(type->layout, &modifiers);
}

void
tde_ddl_check_order(Oid base, const TdeModifiers *modifiers)
{
	if (modifiers->unordered && !tde_base_can_hide_order(base))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("type %s cannot be declared unordered", tde_ddl_encrypted_name(base)),
				 errdetail("Type %s has no hash function by which its values could stand in an index.", format_type_be(base))));
}

void
tde_ddl_check_pad(Oid base, const TdeModifiers *modifiers)
{
	if (modifiers->pad == 0 || tde_plain_pad(base, modifiers) > 0)
		return;
	if (get_typlen(base) != -1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("type %s cannot be padded", tde_ddl_encrypted_name(base)),
				 errdetail("All values of type %s have the same length.", format_type_be(base))));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("type %s cannot be padded to its longest value", tde_ddl_encrypted_name(base)),
			 errdetail("The declaration does not limit its length."),
			 errhint("Declare a length, or pad to a multiple of bytes: 'pad=64'.")));
}

void
tde_ddl_check_spec(Oid base, TdeSpec spec)
{
	/* what pg_upgrade declares is there already */
	if (!IsBinaryUpgrade)
		tde_required_check(spec);
	if (spec.mac == TDE_NOMAC && tde_plain_verifier(base) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("type %s cannot be declared with nomac", tde_ddl_encrypted_name(base)),
				 errdetail("Damaged bytes of type %s could crash the server, so they must be authenticated.",
						   format_type_be(base)),
				 errhint("Use gcm, sha256 or mac.")));
}
