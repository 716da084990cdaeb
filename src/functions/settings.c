/*
 * settings.c - the settings tde_column.*.  Secrets are never settings: SHOW, pg_settings and core files would tell them.
 *
 * The context of a setting says who may decide on it: as a rule PGC_SIGHUP for what concerns the server's files and commands, PGC_SUSET for what
 * guards values, PGC_USERSET for what harms none but who sets it.  Check hooks run in the postmaster, too, where no catalog can be read.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/varlena.h"

#include "client/catalog.h"
#include "client/statements.h"
#include "ddl/added_columns.h"
#include "ddl/declare.h"
#include "ddl/declared_type.h"
#include "ddl/plaintext_alter.h"
#include "distributed/distribution.h"
#include "functions/settings.h"
#include "keys/names.h"
#include "keys/required.h"
#include "server/compat.h"
#include "server/probe_counts.h"
#include "type/access.h"
#include "type/ciphertext_form.h"
#include "type/declared.h"
#include "type/opened.h"
#include "type/plain_bytes.h"
#include "wallet/backup.h"
#include "wallet/wallet.h"

int			tde_share_timeout = 600;

/* The texts of two settings; what they mean is in tde_default_modifiers and tde_required, by their assign hooks. */
static char *default_spec_string = NULL;
static char *require_string = NULL;

/* Set by its check hook when tde_column.decrypt_role is given a value: see define_restriction(). */
static bool decrypt_role_given = false;

/* tde_column.compression; lz4 where PostgreSQL is built with it. */
static const struct config_enum_entry compression_options[] = {
	{"off", TDE_COMPRESSION_OFF, false},
	{"pglz", TDE_COMPRESSION_PGLZ, false},
#ifdef USE_LZ4
	{"lz4", TDE_COMPRESSION_LZ4, false},
#endif
	{NULL, 0, false}
};

/* tde_column.decrypt_policy: TdeDecryptPolicy of type/access.h. */
static const struct config_enum_entry policy_options[] = {
	{"error", TDE_POLICY_ERROR, false},
	{"null", TDE_POLICY_NULL, false},
	{"mask", TDE_POLICY_MASK, false},
	{NULL, 0, false}
};

/* tde_column.plaintext_alter: TdePlaintextAlter of ddl/declared_type.h, of which TDE_ALTER_ALLOW has no word. */
static const struct config_enum_entry plaintext_alter_options[] = {
	{"keep", TDE_ALTER_KEEP, false},
	{"warn", TDE_ALTER_WARN, false},
	{"error", TDE_ALTER_ERROR, false},
	{NULL, 0, false}
};

/* tde_column.key_wall: TdeKeyWall of type/declared.h. */
static const struct config_enum_entry key_wall_options[] = {
	{"error", TDE_WALL_ERROR, false},
	{"warn", TDE_WALL_WARN, false},
	{NULL, 0, false}
};

/* tde_column.io_format and tde_column.citus_results: TdeIoFormat of type/ciphertext_form.h. */
static const struct config_enum_entry io_format_options[] = {
	{"plaintext", TDE_IO_PLAINTEXT, false},
	{"ciphertext", TDE_IO_CIPHERTEXT, false},
	{NULL, 0, false}
};

/* tde_column.wallet_backup_failure: see wallet/backup.h. */
static const struct config_enum_entry backup_failure_options[] = {
	{"error", TDE_BACKUP_ERROR, false},
	{"warning", TDE_BACKUP_WARNING, false},
	{NULL, 0, false}
};

/* A relative path would mean another file in each process, by its working directory. */
static bool
check_wallet_file(char **newval, void **extra, GucSource source)
{
	if (**newval != '\0' && !is_absolute_path(*newval))
	{
		GUC_check_errdetail("\"%s\" is not an absolute path.", *newval);
		return false;
	}
	return true;
}

/* A session that loads the library late would get the first result in one type and the next ones in another. */
static bool
check_transparent_results(bool *newval, void **extra, GucSource source)
{
	if (*newval && !tde_client_possible())
	{
		GUC_check_errdetail("The library is not in shared_preload_libraries.");
		return false;
	}
	return true;
}

/* What a session counts that loads the library late, nobody else would see.  So the module's shared memory must be there. */
static bool
check_tracking(bool *newval, void **extra, GucSource source)
{
	if (*newval && tde_decryptions == NULL)
	{
		GUC_check_errcode(ERRCODE_FEATURE_NOT_SUPPORTED);
		GUC_check_errmsg("module \"%s\" of tde_column was missing when the server started", "decryptions");
		GUC_check_errhint("Install it, add tde_column to shared_preload_libraries, and restart the server.");
		return false;
	}
	return true;
}

/* While tde_column.require is being defined: a value that is refused then would leave nothing required.  The other: as decrypt_role_given. */
static bool defines_require = false;
static bool require_given = false;

/*
 * The parsed value goes to assign_require() by *extra.  A value from the configuration file that is wrong at the start requires all, with a WARNING.
 */
static bool
check_require(char **newval, void **extra, GucSource source)
{
	List	   *words;
	int		   *result = TDE_GUC_MALLOC(sizeof(*result));

	if (result == NULL)
		return false;
	*extra = result;
	require_given |= source > PGC_S_DYNAMIC_DEFAULT;
	if (SplitIdentifierString(pstrdup(*newval), ',', &words) && tde_required_parse(words, result))
		return true;
	if (!defines_require)
	{
		GUC_check_errhint("Standards are: fips, pci and cnsa2.");
		return false;
	}
	ereport(WARNING,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for parameter \"%s\": \"%s\"", "tde_column.require", *newval),
			 errdetail("All standards are required."),
			 errhint("Standards are: fips, pci and cnsa2.")));
	*result = TDE_REQUIRE_ALL;
	return true;
}

static void
assign_require(const char *newval, void *extra)
{
	tde_required = *(int *) extra;
}

/* The same words as in a declaration, but for the key and what needs a length.  The modifiers that result go to assign_default_spec() by *extra. */
static bool
check_default_spec(char **newval, void **extra, GucSource source)
{
	static const TdeModifiers shipped = TDE_SHIPPED_MODIFIERS;
	char	   *copy = pstrdup(*newval);
	List	   *words;
	TdeModifiers mods;
	TdeModifiers *result;
	char	   *problem;

	if (!SplitIdentifierString(copy, ',', &words))
	{
		GUC_check_errdetail("List syntax is invalid.");
		return false;
	}
	problem = tde_modifiers_parse(words, &shipped, false, &mods);
	if (problem == NULL && mods.spec.cipher == TDE_3DES168)
		problem = "Triple DES is for old data only and cannot be the default.";
	if (problem == NULL && mods.pad == TDE_PAD_MAX)
		problem = "The default declares no length that \"pad=max\" could be of.";
	if (problem)
	{
		GUC_check_errdetail("%s", problem);
		GUC_check_errhint("Modifiers are, in any order: one of aes128, aes192, aes256; salt or nosalt; gcm, sha256, mac or nomac; "
						  "ctr or cbc; ordered or unordered; pad=BYTES.");
		return false;
	}
	result = TDE_GUC_MALLOC(sizeof(*result));
	if (result == NULL)
		return false;
	*result = mods;
	*extra = result;
	return true;
}

static void
assign_default_spec(const char *newval, void *extra)
{
	tde_default_modifiers = *(TdeModifiers *) extra;
}

/*
 * Whoever owns a database or a role must not allow it for others: what ALTER DATABASE or ALTER ROLE ... SET says does not count.  PGC_S_TEST is how
 * CREATE FUNCTION ... SET has its value checked, as the install script does by a superuser.
 */
static bool
check_plaintext_allowed(bool *newval, void **extra, GucSource source)
{
	return !*newval || source >= PGC_S_SESSION || (source == PGC_S_TEST && superuser());
}

/*
 * A name that no role has is accepted: refused, it would leave everybody free to decrypt after the role was dropped.  Who sets it in a session hears
 * of it, where the catalogs can be read.
 */
static bool
check_decrypt_role(char **newval, void **extra, GucSource source)
{
	decrypt_role_given |= source > PGC_S_DYNAMIC_DEFAULT;
	if (source >= PGC_S_INTERACTIVE && **newval != '\0' && IsTransactionState() && !InitializingParallelWorker &&
		!OidIsValid(get_role_oid(*newval, true)))
		ereport(NOTICE,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role \"%s\" does not exist", *newval),
				 errdetail("Only superusers will be able to decrypt."),
				 errhint("CREATE ROLE %s;", quote_identifier(*newval))));
	return true;
}

/*
 * Defines a string that a client may not set, and the strictest value of which is known.  Before the library is loaded, a client can set anything, in
 * its connection options too, over what the database has for it.  PostgreSQL then throws the client's value away, but does not go back to the
 * database's.  So that this is no way round the restriction, the strictest is in force then.  given: set when the check hook has seen a value.
 */
static void
define_restriction(const char *name, const char *short_desc, const char *long_desc, char **value, int flags, GucStringCheckHook check,
				   GucStringAssignHook assign, const bool *given, const char *strictest)
{
	bool		is_set = GetConfigOption(name, true, false) != NULL;

	DefineCustomStringVariable(name, short_desc, long_desc, value, "", PGC_SUSET, flags, check, assign, NULL);
	if (is_set && !*given)
		SetConfigOption(name, strictest, PGC_SUSET, PGC_S_OVERRIDE);
}

/* Copies of the wallet are made before each change takes effect (wallet/backup.c). */
static void
define_backup(void)
{
	DefineCustomStringVariable("tde_column.wallet_backup_command",
							   "Sets the command that backs the wallet up when it changes.",
							   "It is run by a shell before the change takes effect: %p is the new file, %f a name under which no "
							   "earlier backup was made.",
							   &tde_wallet_backup_command, "", PGC_SIGHUP, GUC_SUPERUSER_ONLY,
							   NULL, NULL, NULL);
	DefineCustomEnumVariable("tde_column.wallet_backup_failure",
							 "Sets whether a change of the wallet is made although its backup fails.",
							 "error: it is not made.  warning: it is made.",
							 &tde_wallet_backup_failure, TDE_BACKUP_ERROR, backup_failure_options, PGC_SIGHUP, GUC_SUPERUSER_ONLY,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("tde_column.wallet_backup_timeout",
							"Sets how long the wallet backup command may take.",
							"After that it is killed, and the backup has failed.",
							&tde_wallet_backup_timeout, 60000, 10, 3600000, PGC_SIGHUP, GUC_UNIT_MS,
							NULL, NULL, NULL);
	DefineCustomIntVariable("tde_column.wallet_generations",
							"Sets how many earlier copies of the wallet are kept beside the file.",
							"The newest is called FILE.previous, the next FILE.previous.2, and so on.",
							&tde_wallet_generations, 5, 1, 100, PGC_SIGHUP, 0,
							NULL, NULL, NULL);
}

/* These say where the wallet is, and how it is opened.  Commands run as the server's user, so that only its configuration says them. */
static void
define_wallet(void)
{
	DefineCustomIntVariable("tde_column.passphrase_min_length",
							"Sets the minimum length in bytes of new passphrases, and of secrets for exported keys.",
							NULL,
							&tde_passphrase_min_length, 12, 8, 1000, PGC_SIGHUP, 0,
							NULL, NULL, NULL);
	DefineCustomStringVariable("tde_column.wallet_file",
							   "Sets the wallet file, a PKCS#12 container that holds the master keys.",
							   "An absolute path outside the data directory.  The file must belong to the user that runs "
							   "the server and be accessible to nobody else.",
							   &tde_wallet_file, "", PGC_SIGHUP, GUC_SUPERUSER_ONLY,
							   check_wallet_file, NULL, NULL);
	DefineCustomStringVariable("tde_column.passphrase_command",
							   "Sets the command that prints the wallet's passphrase.",
							   "It is run by a shell in the first process that needs a key while the wallet is closed, and "
							   "must print the passphrase as the first line.  Empty: the wallet is opened by tde_wallet_open().",
							   &tde_passphrase_command, "", PGC_SIGHUP, GUC_SUPERUSER_ONLY,
							   NULL, NULL, NULL);
	DefineCustomIntVariable("tde_column.passphrase_timeout",
							"Sets how long the passphrase command may take.",
							"After that it is killed and the wallet stays closed.",
							&tde_passphrase_timeout, 30000, 10, 600000, PGC_SIGHUP, GUC_UNIT_MS,
							NULL, NULL, NULL);
	DefineCustomIntVariable("tde_column.share_timeout",
							"Sets how long shares of the wallet wait for the others.",
							"Counted from the first share.  After that, all shares that were given are forgotten.",
							&tde_share_timeout, 600, 1, 86400, PGC_SIGHUP, GUC_UNIT_S,
							NULL, NULL, NULL);
}

/* These guard values in clear.  tde_column.plaintext_allowed is not shown: no user is to set it, but tde_decrypt_column() for whoever calls it. */
static void
define_guards(void)
{
	/* no role can have the name "none" */
	define_restriction("tde_column.decrypt_role",
					   "Sets the role whose members, and superusers, may decrypt.",
					   "Others can insert, update, compare and sort encrypted values, but not see them.  Empty: "
					   "everybody who may read the column may decrypt.",
					   &tde_decrypt_role, 0, check_decrypt_role, tde_access_assign_role,
					   &decrypt_role_given, "none");
	DefineCustomEnumVariable("tde_column.decrypt_policy",
							 "Sets what results show in place of values that the role may not decrypt.",
							 "Applies to a client's own statements while row_security is on.  Everywhere else such a value "
							 "is an error.",
							 &tde_decrypt_policy, TDE_POLICY_ERROR, policy_options, PGC_SUSET, 0,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("tde_column.plaintext_alter",
							 "Sets what becomes of ALTER TABLE that would store an encrypted column in clear.",
							 "keep: the column gets the encrypted type of the plain one that was asked for.  warn: it is decrypted.  "
							 "error: it is refused.",
							 &tde_plaintext_alter, TDE_ALTER_KEEP, plaintext_alter_options, PGC_SUSET, 0,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("tde_column.plaintext_allowed",
							 "Lets ALTER TABLE store an encrypted column in clear.",
							 "For tde_decrypt_column(), whoever calls it.",
							 &tde_plaintext_allowed, false, PGC_USERSET, GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE,
							 check_plaintext_allowed, NULL, NULL);
}

/* These say how values are encrypted where neither a column nor a statement does. */
static void
define_values(void)
{
	DefineCustomStringVariable("tde_column.default_spec",
							   "Sets the modifiers of encrypted columns that declare none.",
							   "A list as in encrypted_text(aes256,salt,gcm).  Modifiers that a column omits are taken from "
							   "here as well.",
							   &default_spec_string, TDE_SHIPPED_WORDS, PGC_SUSET, GUC_LIST_INPUT,
							   check_default_spec, assign_default_spec, NULL);
	DefineCustomBoolVariable("tde_column.key_per_table",
							 "Gives each new table a data key of its own.",
							 "For its encrypted columns that name no key.  The key is named after the table.",
							 &tde_key_per_table, false, PGC_SUSET, 0,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("tde_column.encrypt_new_columns",
							 "Encrypts columns that are added to tables that have encrypted columns.",
							 "ALTER TABLE ... ADD COLUMN of a plain type gives the column the encrypted type of it.  Off: of a table whose "
							 "columns are all encrypted, a NOTICE says that this one is not.",
							 &tde_encrypt_new_columns, false, PGC_USERSET, 0,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("tde_column.create_missing_keys",
							 "Makes data keys that declarations name and that do not exist.",
							 "Restoring a dump needs it.  Only for roles that may make keys.  Off: such a declaration is an error.",
							 &tde_create_missing_keys, true, PGC_SUSET, 0,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("tde_column.compression",
							 "Compresses large salted values before they are encrypted.",
							 "The stored length then tells something about the content, so it is off by default.",
							 &tde_compression, TDE_COMPRESSION_OFF, compression_options, PGC_USERSET, 0,
							 NULL, NULL, NULL);
}

/* These say what clients and other programs get of values. */
static void
define_results(void)
{
	DefineCustomBoolVariable("tde_column.transparent_results",
							 "Returns encrypted columns to clients in their base types.",
							 "Set it when a session begins: prepared statements keep the types that they had.",
							 &tde_transparent_results, tde_client_possible(), PGC_USERSET, 0,
							 check_transparent_results, NULL, NULL);
	DefineCustomBoolVariable("tde_column.transparent_catalog",
							 "Shows clients encrypted columns in the catalogs as columns of their base types.",
							 "For tools that read the types of columns from there.  Has no effect without "
							 "tde_column.transparent_results, nor on pg_dump.",
							 &tde_transparent_catalog, false, PGC_USERSET, 0,
							 NULL, tde_catalog_assign, NULL);
	DefineCustomEnumVariable("tde_column.io_format",
							 "Sets the form in which encrypted values are read and written as text.",
							 "ciphertext: they leave and enter the database encrypted, for dumps.  tde_export_keys() and "
							 "tde_import_keys() transfer the keys.",
							 &tde_io_format, TDE_IO_PLAINTEXT, io_format_options, PGC_USERSET, 0,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("tde_column.citus_results",
							 "Sets the form of encrypted values in rows that Citus writes for its nodes.",
							 "ciphertext: intermediate results and what repartition joins move are files without plaintext.  All nodes must "
							 "have the same keys.",
							 &tde_citus_results, TDE_IO_PLAINTEXT, io_format_options, PGC_SUSET, 0,
							 NULL, NULL, NULL);
}

/* The value is under a key of this database, and can be read; but somebody may have put it where it does not belong (type/declared.h). */
static void
define_key_wall(void)
{
	DefineCustomEnumVariable("tde_column.key_wall",
							 "Sets what becomes of a value that is under another data key than its column declares.",
							 "error: it is refused.  warn: it is read, with a WARNING for each column.",
							 &tde_key_wall, TDE_WALL_ERROR, key_wall_options, PGC_SUSET, 0,
							 NULL, NULL, NULL);
}

static void
define_require(void)
{
	defines_require = true;
	define_restriction("tde_column.require",
					   "Sets the standards that encryption has to satisfy: fips, pci, cnsa2.",
					   "What they exclude is neither declared nor written.  It is still read.",
					   &require_string, GUC_LIST_INPUT, check_require, assign_require,
					   &require_given, "fips, pci, cnsa2");
	defines_require = false;
}

/* A policy may ask for less than the cipher allows (keys/limits.c). */
static void
define_limits(void)
{
	DefineCustomIntVariable("tde_column.encryption_limit",
							"The number of values after which a version of a data key is replaced, where a policy asks for fewer than the cipher does.",
							"Of triple DES it counts blocks.  0: the cipher's own limit.",
							&tde_encryption_limit, 0, 0, INT_MAX, PGC_SUSET, GUC_NOT_IN_SAMPLE,
							NULL, NULL, NULL);
	DefineCustomIntVariable("tde_column.probe_limit",
							"Sets how many values a role that may not decrypt may compare encrypted columns with in an hour.",
							"Counted by plans, before they run.  0: any number.",
							&tde_probe_limit, 0, 0, INT_MAX, PGC_SUSET, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("tde_column.rotate_after",
							"Sets the age at which keys are to be rotated; tde_audit() warns of older ones.",
							"0: no policy says.",
							&tde_rotate_after, 0, 0, INT_MAX, PGC_SIGHUP, GUC_UNIT_MIN,
							NULL, NULL, NULL);
}

/* Whoever could set it for a session could leave it out. */
static void
define_decryptions(void)
{
	DefineCustomBoolVariable("tde_column.track_decryptions",
							 "Counts the values that roles are given in clear, by column and day.",
							 "For the view tde.decryptions.",
							 &tde_track_decryptions, false, PGC_SIGHUP, 0,
							 check_tracking, tde_opened_assign_tracking, NULL);
}

void
tde_settings_init(void)
{
	define_wallet();
	define_backup();
	define_values();
	define_require();
	define_results();
	define_key_wall();
	define_guards();
	define_limits();
	define_decryptions();
	MarkGUCPrefixReserved("tde_column");
}
