/*
 * modules.c - the SQL functions that modules have: each loads its module when it is called for the first time.
 *
 * A function that is called for the first time in a session may find its module missing: then it throws an error that says what to install, and the
 * next call looks again.  Which argument and result types a function has, the core's script declares.
 */
#include "postgres.h"

#include "server/compat.h"
#include "server/module.h"

/* tde_NAME() of SQL is tde_MODULE_NAME() of the module. */
#define MODULE_FUNCTION(module, name) \
	PG_FUNCTION_INFO_V1(tde_##name); \
	Datum \
	tde_##name(PG_FUNCTION_ARGS) \
	{ \
		static PGFunction function = NULL; \
\
		if (function == NULL) \
			function = tde_module_function(#module, "tde_" #module "_" #name); \
		return function(fcinfo); \
	}

/* Parts of tde_audit(): what stands in clear or under another key than declared, and what standards exclude. */
MODULE_FUNCTION(audit, tree_in_clear)
MODULE_FUNCTION(audit, tree_has_constant)
MODULE_FUNCTION(audit, type_excluded)
MODULE_FUNCTION(audit, tree_excluded)
MODULE_FUNCTION(audit, required_of_server)
MODULE_FUNCTION(audit, requires)
MODULE_FUNCTION(audit, foreign_values_in)
MODULE_FUNCTION(audit, sampled)

/* What takes the place of catalogs' columns, and of pg_get_indexdef() and the like, in clients' queries with transparent catalogs. */
MODULE_FUNCTION(catalog, catalog_typmod)
MODULE_FUNCTION(catalog, catalog_tree)
MODULE_FUNCTION(catalog, catalog_classes)
MODULE_FUNCTION(catalog, catalog_indexdef)
MODULE_FUNCTION(catalog, catalog_constraintdef)
MODULE_FUNCTION(catalog, catalog_partkeydef)
MODULE_FUNCTION(catalog, catalog_viewdef)
MODULE_FUNCTION(catalog, catalog_viewdef_name)
MODULE_FUNCTION(catalog, catalog_ruledef)

/* The passphrase in shares. */
MODULE_FUNCTION(ceremony, wallet_split)
MODULE_FUNCTION(ceremony, wallet_open_share)
MODULE_FUNCTION(ceremony, wallet_forget_shares)

/* Tables on several servers. */
MODULE_FUNCTION(citus, called)
MODULE_FUNCTION(citus, distribute)
MODULE_FUNCTION(citus, hash_fingerprint)

/* Parts of tde_encrypt_column(), tde_decrypt_column(), tde_rekey_table() and the like, most of which procedures in SQL call. */
MODULE_FUNCTION(conversion, rekey_table)
MODULE_FUNCTION(conversion, convert_trigger)
MODULE_FUNCTION(conversion, convert_all_rows)
MODULE_FUNCTION(conversion, convert_rows)
MODULE_FUNCTION(conversion, lock)
MODULE_FUNCTION(conversion, validate)
MODULE_FUNCTION(conversion, may_commit)
MODULE_FUNCTION(conversion, must_commit)
MODULE_FUNCTION(conversion, foreign_owner)
MODULE_FUNCTION(conversion, run_as)
MODULE_FUNCTION(conversion, foreign_constant)
MODULE_FUNCTION(conversion, constant_default)
MODULE_FUNCTION(conversion, relation_of)
MODULE_FUNCTION(conversion, tree_uses)
MODULE_FUNCTION(conversion, tree_null_test)
MODULE_FUNCTION(conversion, index_expression)
MODULE_FUNCTION(conversion, definition)
MODULE_FUNCTION(conversion, wipe_blocks)

/* What the view tde.decryptions shows. */
MODULE_FUNCTION(decryptions, decryption_rows)
MODULE_FUNCTION(decryptions, decryptions_info)
MODULE_FUNCTION(decryptions, decryptions_reset)

MODULE_FUNCTION(import, open_envelope)
MODULE_FUNCTION(import, import_oracle_ddl)

MODULE_FUNCTION(masks, set_mask)
MODULE_FUNCTION(masks, drop_mask)
MODULE_FUNCTION(masks, for_column)

MODULE_FUNCTION(transfer, export_keys)
MODULE_FUNCTION(transfer, import_keys)
MODULE_FUNCTION(transfer, take_keys)

MODULE_FUNCTION(verify, verify_table)
