/* tde_column 0.1.0: encrypted column types for PostgreSQL */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION tde_column" to load this file. \quit

--
-- Data keys
--
-- Wrapped by the master keys of the wallet.  Rows are added outside of transactions, by C code only.  A user catalog table,
-- so that logical decoding can read it; not dumped, since a dump holds plaintext and its restore uses the target's keys.

CREATE TABLE tde_data_keys (
  id          int4 PRIMARY KEY CHECK (id > 0),
  uuid        uuid NOT NULL UNIQUE,
  slot        int4 NOT NULL,
  version     int4 NOT NULL CHECK (version > 0),
  kind        "char" NOT NULL CHECK (kind IN ('m', 'n', 'c', 'h')),
  state       "char" NOT NULL CHECK (state IN ('a', 'r', 'd')),
  created     timestamptz NOT NULL,
  database    uuid NOT NULL,
  master_key  uuid NOT NULL,
  check_value bytea NOT NULL,
  wrapped     bytea NOT NULL,
  UNIQUE (slot, kind, version)
) WITH (user_catalog_table = true);
CREATE SEQUENCE tde_data_keys_id_seq AS int4 OWNED BY tde_data_keys.id;
REVOKE ALL ON tde_data_keys, tde_data_keys_id_seq FROM PUBLIC;
COMMENT ON TABLE tde_data_keys IS 'data keys, wrapped by a master key of the wallet';
COMMENT ON COLUMN tde_data_keys.id IS 'number by which values name the key';
COMMENT ON COLUMN tde_data_keys.uuid IS 'name of the key outside of this database';
COMMENT ON COLUMN tde_data_keys.slot IS '0: default key, above: named by modifiers, -1: literals, -2: keyed hash';
COMMENT ON COLUMN tde_data_keys.version IS 'version of the slot''s key; new values take the highest active one';
COMMENT ON COLUMN tde_data_keys.kind IS 'm: values with MAC, n: values without, c: literals, h: keyed hash';
COMMENT ON COLUMN tde_data_keys.state IS 'a: active, r: retired (reads only), d: destroyed';
COMMENT ON COLUMN tde_data_keys.database IS 'identity of the database that made the key';
COMMENT ON COLUMN tde_data_keys.master_key IS 'master key that wraps it';
COMMENT ON COLUMN tde_data_keys.check_value IS 'HKDF of the key, to tell a wrong key';
COMMENT ON COLUMN tde_data_keys.wrapped IS 'AES-256 key wrap (RFC 5649) of the key and of this row''s other fields';

--
-- Wallet
--

CREATE FUNCTION tde_wallet_create(passphrase text DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_wallet_create(text) FROM PUBLIC;
COMMENT ON FUNCTION tde_wallet_create(text) IS
  'make the wallet file and open it; without a passphrase one is made and returned';

CREATE FUNCTION tde_wallet_open(passphrase text DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_wallet_open(text) FROM PUBLIC;
COMMENT ON FUNCTION tde_wallet_open(text) IS
  'open the wallet for the whole instance; without a passphrase through tde_column.passphrase_command';

CREATE FUNCTION tde_wallet_close() RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_wallet_close() FROM PUBLIC;
COMMENT ON FUNCTION tde_wallet_close() IS 'forget the master keys in the whole instance';

CREATE FUNCTION tde_wallet_status(OUT file text, OUT status text, OUT instance_wide boolean, OUT opened_at timestamptz,
                                  OUT master_keys int4, OUT current_master_key uuid)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_wallet_status() FROM PUBLIC;
COMMENT ON FUNCTION tde_wallet_status() IS 'state of the wallet';

CREATE VIEW tde_wallet AS SELECT * FROM tde_wallet_status();
GRANT EXECUTE ON FUNCTION tde_wallet_status() TO pg_monitor;
GRANT SELECT ON tde_wallet TO pg_monitor;
COMMENT ON VIEW tde_wallet IS 'state of the wallet: OPEN, CLOSED or NOT_AVAILABLE';

CREATE FUNCTION tde_ensure_keys() RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_ensure_keys() FROM PUBLIC;
COMMENT ON FUNCTION tde_ensure_keys() IS 'make the data keys that this database lacks, if the wallet can be opened';

--
-- Counters
--

CREATE FUNCTION tde_stats_counters(OUT encryptions int8, OUT decryptions int8, OUT key_setups int8, OUT key_loads int8)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION tde_stats_counters() IS 'work done by this backend';

CREATE VIEW tde_stats AS SELECT * FROM tde_stats_counters();
GRANT SELECT ON tde_stats TO PUBLIC;
COMMENT ON VIEW tde_stats IS 'values encrypted and decrypted, keys made ready and key table scans, by this backend';

--
-- Encrypted columns
--

CREATE FUNCTION tde_type_spec(type oid, typmod int4, OUT base_type text, OUT cipher text, OUT mode text, OUT salt boolean,
                              OUT mac text, OUT key_slot int4)
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_type_spec(oid, int4) IS 'what a type and its modifier say; all NULL for a type that is not encrypted';

CREATE VIEW tde_encrypted_columns AS
  SELECT n.nspname AS schema_name, c.relname AS table_name, a.attname AS column_name,
         pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
         s.base_type, s.cipher, s.mode, s.salt, s.mac, s.key_slot
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
  CROSS JOIN LATERAL tde_type_spec(a.atttypid, a.atttypmod) s
  WHERE a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped AND s.base_type IS NOT NULL
    AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'f', 'm']::"char"[])
    AND (pg_catalog.pg_has_role(c.relowner, 'USAGE')
         OR pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));
GRANT SELECT ON tde_encrypted_columns TO PUBLIC;
COMMENT ON VIEW tde_encrypted_columns IS 'encrypted columns that the current user has a privilege on, and how they are encrypted';

--
-- Declarations
--

CREATE FUNCTION tde_ddl_trigger() RETURNS event_trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION tde_ddl_trigger() FROM PUBLIC;
COMMENT ON FUNCTION tde_ddl_trigger() IS
  'give encrypted columns that were declared without modifiers the default specification';

CREATE FUNCTION tde_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION tde_typanalyze(internal) IS 'statistics of an encrypted column, unless the wallet is closed';

CREATE FUNCTION tde_subscript(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_subscript(internal) IS 'subscripts of encrypted values';

--
-- The template of all encrypted types
--

CREATE FUNCTION tde_add_operators(l regtype, r regtype, prefix text, btree text, hash text, volatility text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $add_operators$
DECLARE
  op       record;
BEGIN
  FOR op IN SELECT * FROM (VALUES
      ('=',  'eq', '=',  '<>', 'eqsel',       'eqjoinsel',       3),
      ('<>', 'ne', '<>', '=',  'neqsel',      'neqjoinsel',      0),
      ('<',  'lt', '>',  '>=', 'scalarltsel', 'scalarltjoinsel', 1),
      ('<=', 'le', '>=', '>',  'scalarlesel', 'scalarlejoinsel', 2),
      ('>',  'gt', '<',  '<=', 'scalargtsel', 'scalargtjoinsel', 5),
      ('>=', 'ge', '<=', '<',  'scalargesel', 'scalargejoinsel', 4)
    ) AS ops (symbol, suffix, commutator, negator, restrict, joining, strategy)
  LOOP
    CONTINUE WHEN btree IS NULL AND op.suffix NOT IN ('eq', 'ne');
    EXECUTE format('CREATE FUNCTION @extschema@.tde_%s(%s, %s) RETURNS boolean AS ''MODULE_PATHNAME'', ''tde_%1$s'' '
                   'LANGUAGE C %4$s STRICT PARALLEL SAFE', op.suffix, l, r, volatility);
    EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_%s(%s, %s) IS %L', op.suffix, l, r,
                   format('implementation of %s operator', op.symbol));
    EXECUTE format('CREATE OPERATOR @extschema@.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = @extschema@.tde_%s, '
                   'COMMUTATOR = OPERATOR(@extschema@.%s), NEGATOR = OPERATOR(@extschema@.%s), RESTRICT = %s, JOIN = %s%s%s)',
                   prefix || op.symbol, l, r, op.suffix, prefix || op.commutator, prefix || op.negator, op.restrict, op.joining,
                   CASE WHEN op.symbol = '=' AND btree <> '' THEN ', MERGES' ELSE '' END,
                   CASE WHEN op.symbol = '=' AND hash IS NOT NULL THEN ', HASHES' ELSE '' END);
  END LOOP;
  -- btree: a family, '' for operators outside of all families, NULL where there is no order
  IF btree <> '' THEN
    EXECUTE format('CREATE FUNCTION @extschema@.tde_cmp(%s, %s) RETURNS int4 AS ''MODULE_PATHNAME'', ''tde_cmp'' '
                   'LANGUAGE C %s STRICT PARALLEL SAFE', l, r, volatility);
    EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_cmp(%s, %s) IS ''less-equal-greater''', l, r);
    EXECUTE format('ALTER OPERATOR FAMILY @extschema@.%I USING btree ADD '
                   'OPERATOR 1 @extschema@.%2$s< (%3$s, %4$s), OPERATOR 2 @extschema@.%2$s<= (%3$s, %4$s), '
                   'OPERATOR 3 @extschema@.%2$s= (%3$s, %4$s), OPERATOR 4 @extschema@.%2$s>= (%3$s, %4$s), '
                   'OPERATOR 5 @extschema@.%2$s> (%3$s, %4$s), FUNCTION 1 (%3$s, %4$s) @extschema@.tde_cmp(%3$s, %4$s)',
                   btree, prefix, l, r);
  END IF;
  IF hash IS NOT NULL THEN
    EXECUTE format('ALTER OPERATOR FAMILY @extschema@.%I USING hash ADD OPERATOR 1 @extschema@.%s= (%s, %s)', hash, prefix, l, r);
  END IF;
END
$add_operators$;
REVOKE ALL ON FUNCTION tde_add_operators(regtype, regtype, text, text, text, text) FROM PUBLIC;
COMMENT ON FUNCTION tde_add_operators(regtype, regtype, text, text, text, text) IS
  'comparison operators of two types, as members of operator families';

CREATE FUNCTION tde_add_arithmetic(l regtype, r regtype) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $add_arithmetic$
DECLARE
  exact   CONSTANT regtype[] := '{int2,int4,int8,numeric}';
  plain_l regtype := coalesce((SELECT base FROM @extschema@.tde_types WHERE type = l), l);
  plain_r regtype := coalesce((SELECT base FROM @extschema@.tde_types WHERE type = r), r);
  result  regtype;
  op      record;
BEGIN
  EXECUTE format('SELECT pg_typeof(NULL::%s OPERATOR(pg_catalog.+) NULL::%s)', plain_l, plain_r) INTO result;
  FOR op IN SELECT * FROM (VALUES ('+', 'plus'), ('-', 'minus'), ('*', 'times'), ('/', 'divided'), ('%', 'modulo')) AS ops (symbol, suffix)
    WHERE symbol <> '%' OR ARRAY[plain_l, plain_r] <@ exact
  LOOP
    EXECUTE format('CREATE FUNCTION @extschema@.tde_%s(%s, %s) RETURNS %s AS ''MODULE_PATHNAME'' '
                   'LANGUAGE C STABLE STRICT PARALLEL SAFE', op.suffix, l, r, result);
    EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_%s(%s, %s) IS %L', op.suffix, l, r,
                   format('implementation of %s operator', op.symbol));
    EXECUTE format('CREATE OPERATOR @extschema@.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = @extschema@.tde_%s)',
                   op.symbol, l, r, op.suffix);
  END LOOP;
END
$add_arithmetic$;
REVOKE ALL ON FUNCTION tde_add_arithmetic(regtype, regtype) FROM PUBLIC;
COMMENT ON FUNCTION tde_add_arithmetic(regtype, regtype) IS 'arithmetic of two number types, which returns what the base types'' does';

CREATE FUNCTION tde_base_family(base regtype, method name, OUT family name, OUT operand regtype)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  -- a type without an operator class of its own (varchar) has that of the type whose bytes it shares (text)
  SELECT f.opfname, CASE WHEN c.opcintype = 'anyenum'::regtype THEN base ELSE c.opcintype::regtype END
  FROM pg_opclass c JOIN pg_opfamily f ON f.oid = c.opcfamily JOIN pg_am m ON m.oid = c.opcmethod
  WHERE m.amname = method AND c.opcdefault
    AND (c.opcintype = base OR c.opcintype = 'anyenum'::regtype AND (SELECT typtype FROM pg_type WHERE oid = base) = 'e'
         OR EXISTS (SELECT FROM pg_cast WHERE castsource = base AND casttarget = c.opcintype AND castmethod = 'b' AND castcontext = 'i'))
  ORDER BY c.opcintype = base DESC, (SELECT typispreferred FROM pg_type WHERE oid = c.opcintype) DESC
  LIMIT 1
$$;
REVOKE ALL ON FUNCTION tde_base_family(regtype, name) FROM PUBLIC;
COMMENT ON FUNCTION tde_base_family(regtype, name) IS
  'default operator family of a base type, and the type that it compares it as';

CREATE VIEW tde_types AS
  SELECT c.castsource::pg_catalog.regtype AS type, c.casttarget::pg_catalog.regtype AS base
  FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) c.castfunc
  JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang
  WHERE p.prosrc OPERATOR(pg_catalog.=) 'tde_decrypt' AND l.lanname OPERATOR(pg_catalog.=) 'c';
GRANT SELECT ON tde_types TO PUBLIC;
COMMENT ON VIEW tde_types IS 'encrypted types and their base types';

CREATE FUNCTION tde_create_type(base regtype, type_tag uuid DEFAULT pg_catalog.gen_random_uuid()) RETURNS regtype
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $create_type$
DECLARE
  numbers    CONSTANT regtype[] := '{int2,int4,int8,numeric,float4,float8}';
  base_row   pg_type;
  name       text;           -- of the new type, not quoted
  enc        text;           -- the new type
  plain      text := base::text;
  btree      record;         -- the base type's families, and what operators take in place of the base type
  hash       record;
  operand    regtype;
  fn         text;           -- prefix of its functions: schema and name, to be followed by a suffix
  options    text;
  support    text := '';
  context    text;
  other      record;
  op         record;
  sides      record;
BEGIN
  SELECT * INTO STRICT base_row FROM pg_type WHERE oid = base;
  IF base_row.typtype NOT IN ('b', 'e') OR base_row.typlen = -2 OR base_row.typelem <> 0 AND base_row.typlen = -1 THEN
    RAISE EXCEPTION 'cannot make an encrypted type of %', plain
      USING ERRCODE = 'feature_not_supported',
            DETAIL = 'Only base types and enums can be encrypted, not domains, arrays, composites, ranges and pseudo-types.';
  END IF;
  name := 'encrypted_' || base_row.typname;
  enc := format('@extschema@.%I', name);

  -- I/O
  EXECUTE format('CREATE TYPE %s', enc);
  FOR op IN SELECT * FROM (VALUES
      ('in',         'cstring, oid, int4',  enc,       'tde_in',         'STABLE',    'I/O'),
      ('out',        enc,                   'cstring', 'tde_out',        'STABLE',    'I/O'),
      ('recv',       'internal, oid, int4', enc,       'tde_recv',       'STABLE',    'I/O'),
      ('send',       enc,                   'bytea',   'tde_send',       'STABLE',    'I/O'),
      ('typmod_in',  'cstring[]',           'int4',    'tde_typmod_in',  'STABLE',    'I/O typmod'),
      ('typmod_out', 'int4',                'cstring', 'tde_typmod_out', 'STABLE',    'I/O typmod')
    ) AS io (suffix, args, result, symbol, volatility, comment)
  LOOP
    fn := format('@extschema@.%I', name || '_' || op.suffix);
    EXECUTE format('CREATE FUNCTION %s(%s) RETURNS %s AS ''MODULE_PATHNAME'', %L LANGUAGE C %s STRICT PARALLEL SAFE',
                   fn, op.args, op.result, op.symbol, op.volatility);
    EXECUTE format('COMMENT ON FUNCTION %s(%s) IS %L', fn, op.args, op.comment);
  END LOOP;
  options := format('INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external, CATEGORY = %L, '
                    'INPUT = %2$s_in", OUTPUT = %2$s_out", RECEIVE = %2$s_recv", SEND = %2$s_send", '
                    'TYPMOD_IN = %2$s_typmod_in", TYPMOD_OUT = %2$s_typmod_out", ANALYZE = @extschema@.tde_typanalyze, COLLATABLE = %3$s%4$s',
                    base_row.typcategory, '@extschema@."' || replace(name, '"', '""'),
                    CASE WHEN base_row.typcollation <> 0 THEN 'true' ELSE 'false' END,
                    CASE WHEN base_row.typsubscript <> 0 AND base_row.typelem = 0 THEN ', SUBSCRIPT = @extschema@.tde_subscript' ELSE '' END);
  EXECUTE format('CREATE TYPE %s (%s)', enc, options);
  EXECUTE format('COMMENT ON TYPE %s IS %L', enc, 'encrypted ' || plain);
  EXECUTE format('CREATE FUNCTION @extschema@.tde_type_tag(%s) RETURNS uuid AS %L LANGUAGE sql IMMUTABLE PARALLEL SAFE',
                 enc, format('SELECT %L::pg_catalog.uuid', type_tag));
  EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_type_tag(%s) IS %L', enc, 'name of the base type in key derivation');

  -- casts.  All STABLE: IMMUTABLE ones would be folded, and one salt shared by many rows; VOLATILE ones would keep
  -- conditions out of indexes.
  fn := format('@extschema@.%I', name);
  EXECUTE format('CREATE FUNCTION %s(%s, int4, boolean) RETURNS %s AS ''MODULE_PATHNAME'', ''tde_coerce'' '
                 'LANGUAGE C STABLE STRICT PARALLEL SAFE', fn, enc, enc);
  EXECUTE format('COMMENT ON FUNCTION %s(%s, int4, boolean) IS ''adjust value to typmod''', fn, enc);
  EXECUTE format('CREATE CAST (%s AS %s) WITH FUNCTION %s(%s, int4, boolean) AS IMPLICIT', enc, enc, fn, enc);

  EXECUTE format('CREATE FUNCTION @extschema@.%I(%s) RETURNS %s AS ''MODULE_PATHNAME'', ''tde_decrypt'' '
                 'LANGUAGE C STABLE STRICT PARALLEL SAFE', base_row.typname, enc, plain);
  EXECUTE format('COMMENT ON FUNCTION @extschema@.%I(%s) IS ''decrypt''', base_row.typname, enc);
  -- IMPLICIT, so that every function of the base type takes an encrypted value
  EXECUTE format('CREATE CAST (%s AS %s) WITH FUNCTION @extschema@.%I(%s) AS IMPLICIT', enc, plain, base_row.typname, enc);
  -- VOLATILE, so that it is evaluated above sorts and hash tables, which spill what they hold
  EXECUTE format('CREATE FUNCTION @extschema@.tde_result(%s, int4) RETURNS %s AS ''MODULE_PATHNAME'' '
                 'LANGUAGE C VOLATILE STRICT PARALLEL SAFE', enc, plain);
  EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_result(%s, int4) IS ''decrypt for a client''', enc);

  -- ASSIGNMENT, from the base type and from what can be assigned to it: an IMPLICIT one would let encrypted and plain
  -- operators compete, and numeric = int4 would be ambiguous in the whole database.
  FOR other IN
    SELECT base::oid AS type
    UNION
    SELECT castsource FROM pg_cast WHERE casttarget = base AND castsource <> base AND castcontext IN ('i', 'a')
      AND castsource < 16384
      AND castsource::regtype::text NOT IN ('"char"', 'name', 'xml', 'money')
  LOOP
    EXECUTE format('CREATE FUNCTION %s(%s, int4, boolean) RETURNS %s AS ''MODULE_PATHNAME'', ''tde_encrypt'' '
                   'LANGUAGE C STABLE STRICT PARALLEL SAFE', fn, other.type::regtype, enc);
    EXECUTE format('COMMENT ON FUNCTION %s(%s, int4, boolean) IS ''encrypt''', fn, other.type::regtype);
    EXECUTE format('CREATE CAST (%s AS %s) WITH FUNCTION %s(%s, int4, boolean) AS ASSIGNMENT',
                   other.type::regtype, enc, fn, other.type::regtype);
  END LOOP;

  -- what the base type can be cast to; IMPLICIT only where it is the same bytes (varchar to text), as a second implicit
  -- cast to a number would make arithmetic ambiguous, or silently inexact
  FOR other IN
    SELECT casttarget AS type, CASE WHEN castmethod = 'b' AND castcontext = 'i' THEN 'IMPLICIT' ELSE 'ASSIGNMENT' END AS context
    FROM pg_cast c JOIN pg_type t ON t.oid = casttarget
    WHERE castsource = base AND casttarget <> base AND casttarget < 16384
      AND casttarget::regtype::text NOT IN ('"char"', 'name', 'xml', 'money', 'regclass')
  LOOP
    EXECUTE format('CREATE FUNCTION @extschema@.%I(%s) RETURNS %s AS ''MODULE_PATHNAME'', ''tde_decrypt_to'' '
                   'LANGUAGE C STABLE STRICT PARALLEL SAFE',
                   (SELECT typname FROM pg_type WHERE oid = other.type), enc, other.type::regtype);
    EXECUTE format('COMMENT ON FUNCTION @extschema@.%I(%s) IS ''decrypt and cast''',
                   (SELECT typname FROM pg_type WHERE oid = other.type), enc);
    EXECUTE format('CREATE CAST (%s AS %s) WITH FUNCTION @extschema@.%I(%s) AS %s',
                   enc, other.type::regtype, (SELECT typname FROM pg_type WHERE oid = other.type), enc, other.context);
  END LOOP;

  -- casts between encrypted types, as between their base types
  FOR other IN
    SELECT t.type, t.base, c.castcontext, d.castcontext AS back
    FROM @extschema@.tde_types t
    LEFT JOIN pg_cast c ON c.castsource = $1 AND c.casttarget = t.base
    LEFT JOIN pg_cast d ON d.castsource = t.base AND d.casttarget = $1
    WHERE t.type <> enc::regtype
  LOOP
    FOR sides IN SELECT * FROM (VALUES (enc::regtype, other.type, other.castcontext), (other.type, enc::regtype, other.back)) AS s (l, r, c)
      WHERE s.c IS NOT NULL
    LOOP
      fn := format('@extschema@.%I', (SELECT typname FROM pg_type WHERE oid = sides.r));
      EXECUTE format('CREATE FUNCTION %s(%s, int4, boolean) RETURNS %s AS ''MODULE_PATHNAME'', ''tde_recast'' '
                     'LANGUAGE C STABLE STRICT PARALLEL SAFE', fn, sides.l, sides.r);
      EXECUTE format('COMMENT ON FUNCTION %s(%s, int4, boolean) IS ''cast as between the base types''', fn, sides.l);
      context := CASE sides.c WHEN 'i' THEN 'AS IMPLICIT' WHEN 'a' THEN 'AS ASSIGNMENT' ELSE '' END;
      EXECUTE format('CREATE CAST (%s AS %s) WITH FUNCTION %s(%1$s, int4, boolean) %4$s', sides.l, sides.r, fn, context);
    END LOOP;
  END LOOP;

  -- arithmetic with itself, every plain and every other encrypted number: were a pair missing, another one with a preferred type
  -- (float8) would be taken for it
  IF base = ANY (numbers) THEN
    PERFORM @extschema@.tde_add_arithmetic(enc::regtype, enc::regtype);
    FOR other IN SELECT unnest(numbers) AS type UNION ALL SELECT t.type FROM @extschema@.tde_types t
                 WHERE t.base = ANY (numbers) AND t.type <> enc::regtype
    LOOP
      PERFORM @extschema@.tde_add_arithmetic(enc::regtype, other.type);
      PERFORM @extschema@.tde_add_arithmetic(other.type, enc::regtype);
    END LOOP;
  END IF;

  -- operator families of our own, one for each of the base types' families, so that members combine as there
  SELECT * INTO btree FROM @extschema@.tde_base_family(base, 'btree');
  SELECT * INTO hash FROM @extschema@.tde_base_family(base, 'hash');
  IF btree.family IS NULL AND hash.family IS NULL THEN
    RETURN enc::regtype;
  END IF;
  operand := coalesce(btree.operand, hash.operand);
  btree.family := 'tde_' || btree.family;
  hash.family := 'tde_' || hash.family;
  FOR op IN SELECT * FROM (VALUES ('btree', btree.family), ('hash', hash.family)) AS f (method, family) WHERE f.family IS NOT NULL LOOP
    CONTINUE WHEN EXISTS (SELECT FROM pg_opfamily f JOIN pg_am m ON m.oid = opfmethod
                          WHERE opfname = op.family AND m.amname = op.method AND opfnamespace = '@extschema@'::regnamespace);
    EXECUTE format('CREATE OPERATOR FAMILY @extschema@.%I USING %s', op.family, op.method);
  END LOOP;

  PERFORM @extschema@.tde_add_operators(enc::regtype, enc::regtype, '', btree.family, hash.family, 'IMMUTABLE');
  PERFORM @extschema@.tde_add_operators(enc::regtype, operand, '', btree.family, hash.family, 'IMMUTABLE');
  PERFORM @extschema@.tde_add_operators(operand, enc::regtype, '', btree.family, hash.family, 'IMMUTABLE');
  -- The base type's own members have other names, which no expression finds: plain columns keep PostgreSQL's operators.
  IF to_regprocedure(format('@extschema@.tde_eq(%s,%1$s)', operand)) IS NULL THEN
    PERFORM @extschema@.tde_add_operators(operand, operand, '%', btree.family, hash.family, 'IMMUTABLE');
    IF hash.family IS NOT NULL THEN
      EXECUTE format('CREATE FUNCTION @extschema@.tde_hash(%s) RETURNS int4 AS ''MODULE_PATHNAME'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', operand);
      EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_hash(%s) IS ''keyed hash''', operand);
      EXECUTE format('CREATE FUNCTION @extschema@.tde_hash_extended(%s, int8) RETURNS int8 AS ''MODULE_PATHNAME'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', operand);
      EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_hash_extended(%s, int8) IS ''hash with a seed''', operand);
      EXECUTE format('ALTER OPERATOR FAMILY @extschema@.%I USING hash ADD FUNCTION 1 (%2$s, %2$s) @extschema@.tde_hash(%2$s), '
                     'FUNCTION 2 (%2$s, %2$s) @extschema@.tde_hash_extended(%2$s, int8)', hash.family, operand);
    END IF;
  END IF;

  -- with the other encrypted types: in the family where the base types share one, and numbers of all sorts outside of families
  FOR other IN
    SELECT t.type, b.family = substr(btree.family, 5) AS shared, coalesce(h.family = substr(hash.family, 5), false) AS shared_hash, b.operand
    FROM @extschema@.tde_types t, @extschema@.tde_base_family(t.base, 'btree') b, @extschema@.tde_base_family(t.base, 'hash') h
    WHERE t.type <> enc::regtype AND (b.family = substr(btree.family, 5) OR $1 = ANY (numbers) AND t.base = ANY (numbers))
  LOOP
    FOR sides IN SELECT DISTINCT * FROM (VALUES (enc::regtype, other.type, ''), (other.type, enc::regtype, ''),
                                       (enc::regtype, other.operand, ''), (other.operand, enc::regtype, ''),
                                       (other.type, operand, ''), (operand, other.type, ''),
                                       (operand, other.operand, '%'), (other.operand, operand, '%')) AS s (l, r, prefix)
                 WHERE s.prefix = '' OR other.shared
    LOOP
      CONTINUE WHEN to_regprocedure(format('@extschema@.tde_eq(%s,%s)', sides.l, sides.r)) IS NOT NULL;
      -- a comparison of timestamptz with date depends on the time zone
      SELECT CASE WHEN provolatile = 'i' THEN 'IMMUTABLE' ELSE 'STABLE' END INTO context
      FROM pg_operator o JOIN pg_proc p ON p.oid = oprcode WHERE oprname = '=' AND oprleft = operand AND oprright = other.operand;
      PERFORM @extschema@.tde_add_operators(sides.l, sides.r, sides.prefix, CASE WHEN other.shared THEN btree.family ELSE '' END,
                                            CASE WHEN other.shared AND other.shared_hash THEN hash.family END, coalesce(context, 'IMMUTABLE'));
    END LOOP;
  END LOOP;
  IF operand = 'text'::regtype THEN
    PERFORM @extschema@.tde_add_operators(enc::regtype, 'name', '', '', NULL, 'IMMUTABLE');
    PERFORM @extschema@.tde_add_operators('name', enc::regtype, '', '', NULL, 'IMMUTABLE');
  END IF;

  -- operator classes
  IF btree.family IS NOT NULL THEN
    fn := format('@extschema@.%I', name || '_sortsupport');
    EXECUTE format('CREATE FUNCTION %s(internal) RETURNS void AS ''MODULE_PATHNAME'', ''tde_sortsupport'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', fn);
    EXECUTE format('COMMENT ON FUNCTION %s(internal) IS ''sort support''', fn);
    FOR other IN SELECT amprocrighttype::regtype AS distance FROM pg_amproc p JOIN pg_opfamily f ON f.oid = p.amprocfamily
                 JOIN pg_am m ON m.oid = f.opfmethod
                 WHERE m.amname = 'btree' AND f.opfname = substr(btree.family, 5) AND f.opfnamespace = 'pg_catalog'::regnamespace
                   AND amproclefttype = operand AND amprocnum = 3
    LOOP
      EXECUTE format('CREATE FUNCTION @extschema@.tde_in_range(%s, %1$s, %s, boolean, boolean) RETURNS boolean AS ''MODULE_PATHNAME'' '
                     'LANGUAGE C %s STRICT PARALLEL SAFE', enc, other.distance, CASE WHEN plain LIKE '%with time zone' THEN 'STABLE' ELSE 'IMMUTABLE' END);
      EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_in_range(%s, %1$s, %s, boolean, boolean) IS ''window RANGE support''', enc, other.distance);
      support := support || format(', FUNCTION 3 (%s, %s) @extschema@.tde_in_range(%1$s, %1$s, %2$s, boolean, boolean)', enc, other.distance);
    END LOOP;
    EXECUTE format('CREATE OPERATOR CLASS @extschema@.%I DEFAULT FOR TYPE %s USING btree FAMILY @extschema@.%I AS FUNCTION 2 %s(internal)%s',
                   name || '_ops', enc, btree.family, fn, support);
  END IF;
  IF hash.family IS NOT NULL THEN
    EXECUTE format('CREATE FUNCTION @extschema@.tde_hash(%s) RETURNS int4 AS ''MODULE_PATHNAME'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', enc);
    EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_hash(%s) IS ''keyed hash''', enc);
    EXECUTE format('CREATE FUNCTION @extschema@.tde_hash_extended(%s, int8) RETURNS int8 AS ''MODULE_PATHNAME'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', enc);
    EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_hash_extended(%s, int8) IS ''hash with a seed''', enc);
    EXECUTE format('CREATE OPERATOR CLASS @extschema@.%I DEFAULT FOR TYPE %s USING hash FAMILY @extschema@.%I AS '
                   'FUNCTION 1 @extschema@.tde_hash(%2$s), FUNCTION 2 @extschema@.tde_hash_extended(%2$s, int8)', name || '_ops', enc, hash.family);
  END IF;

  -- min and max, which keep an index useful
  FOR op IN SELECT * FROM (VALUES ('max', 'larger', '>'), ('min', 'smaller', '<')) AS a (name, suffix, sortop)
    WHERE EXISTS (SELECT FROM pg_proc p WHERE p.proname = a.name AND p.prokind = 'a' AND pronamespace = 'pg_catalog'::regnamespace
                  AND proargtypes[0] IN (operand, CASE WHEN base_row.typtype = 'e' THEN 'anyenum'::regtype ELSE operand END))
  LOOP
    EXECUTE format('CREATE FUNCTION @extschema@.tde_%s(%s, %2$s) RETURNS %2$s AS ''MODULE_PATHNAME'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE',
                   op.suffix, enc);
    EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_%s(%s, %2$s) IS %L', op.suffix, enc, op.suffix || ' of two');
    EXECUTE format('CREATE AGGREGATE @extschema@.%I(%s) (SFUNC = @extschema@.tde_%s, STYPE = %2$s, COMBINEFUNC = @extschema@.tde_%3$s, '
                   'SORTOP = OPERATOR(@extschema@.%s), PARALLEL = SAFE)', op.name, enc, op.suffix, op.sortop);
    EXECUTE format('COMMENT ON AGGREGATE @extschema@.%I(%s) IS %L', op.name, enc, op.name || 'imum of all values');
  END LOOP;

  -- corr, covar_*, regr_*: of float8, which the other encrypted numbers become implicitly
  IF base = 'float8'::regtype THEN
    FOR sides IN SELECT * FROM (VALUES (enc::regtype, enc::regtype), (enc::regtype, base), (base, enc::regtype)) AS s (l, r) LOOP
      EXECUTE format('CREATE FUNCTION @extschema@.tde_regr_accum(float8[], %s, %s) RETURNS float8[] AS ''MODULE_PATHNAME'' '
                     'LANGUAGE C STABLE STRICT PARALLEL SAFE', sides.l, sides.r);
      EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_regr_accum(float8[], %s, %s) IS ''aggregate transition function''', sides.l, sides.r);
      EXECUTE format('CREATE FUNCTION @extschema@.tde_regr_count(int8, %s, %s) RETURNS int8 AS ''int8inc_float8_float8'' '
                     'LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE', sides.l, sides.r);
      EXECUTE format('COMMENT ON FUNCTION @extschema@.tde_regr_count(int8, %s, %s) IS ''aggregate transition function''', sides.l, sides.r);
      FOR op IN
        SELECT p.proname AS name, aggtranstype::regtype AS state, agginitval AS init, aggcombinefn AS combine,
               CASE WHEN aggtransfn = 'float8_regr_accum'::regproc THEN 'accum' ELSE 'count' END AS suffix,
               CASE WHEN aggfinalfn <> 0 THEN format(', FINALFUNC = %s', aggfinalfn) ELSE '' END AS final,
               obj_description(p.oid, 'pg_proc') AS comment
        FROM pg_aggregate a JOIN pg_proc p ON p.oid = aggfnoid
        WHERE aggtransfn IN ('float8_regr_accum'::regproc, 'int8inc_float8_float8'::regproc) AND pronamespace = 'pg_catalog'::regnamespace
      LOOP
        EXECUTE format('CREATE AGGREGATE @extschema@.%I(%s, %s) (SFUNC = @extschema@.tde_regr_%s, STYPE = %s, INITCOND = %L, '
                       'COMBINEFUNC = %s, PARALLEL = SAFE%s)', op.name, sides.l, sides.r, op.suffix, op.state, op.init, op.combine, op.final);
        EXECUTE format('COMMENT ON AGGREGATE @extschema@.%I(%s, %s) IS %L', op.name, sides.l, sides.r, op.comment);
      END LOOP;
    END LOOP;
  END IF;
  RETURN enc::regtype;
END
$create_type$;
REVOKE ALL ON FUNCTION tde_create_type(regtype, uuid) FROM PUBLIC;
COMMENT ON FUNCTION tde_create_type(regtype, uuid) IS
  'make the encrypted version of a base type; the tag names the type in key derivation and must stay the same for ever';

--
-- The types.  Their tags are part of the value format: they never change.
--

SELECT tde_create_type('text',        '0c8d6fb5-7d0c-4b43-9b57-52b2f2a6d7a1');
SELECT tde_create_type('varchar',     '6d2a1c1e-0d5f-4c0b-8f0c-9c8e0e4f5b12');
SELECT tde_create_type('bpchar',      'e20c9a4d-5f3b-4b6e-8a17-21c8d9f0b389');
SELECT tde_create_type('int2',        '71b8e3f2-9d4c-4e0a-b5a6-c3d2e1f0a49a');
SELECT tde_create_type('int4',        '2f7e9d84-5b6a-4a1d-8c3e-7e1f0b9a6c34');
SELECT tde_create_type('int8',        '9e3b5c76-1a2d-4f8e-b4c5-3d6a8f7e0b45');
SELECT tde_create_type('numeric',     'b1f0a7a3-3c4e-4d7e-9a51-0a9c2f6d8e23');
SELECT tde_create_type('float4',      '3c5d7e9f-0a1b-4c2d-9e3f-4a5b6c7d8eab');
SELECT tde_create_type('float8',      '84a6c8e0-1b3d-4f5a-a7b9-c1d3e5f709bc');
SELECT tde_create_type('bool',        'c9d8e7f6-a5b4-4c3d-82e1-f0a9b8c7d6cd');
SELECT tde_create_type('date',        '47a6d2e8-8f1b-4e9c-a7d3-6b5c4a3f2e56');
SELECT tde_create_type('time',        '15e2f3a4-b5c6-4d7e-8f90-a1b2c3d4e5de');
SELECT tde_create_type('timetz',      '6a7b8c9d-e0f1-4a2b-b3c4-d5e6f7a8b9ef');
SELECT tde_create_type('timestamp',   'f0e1d2c3-b4a5-4968-8776-655443322f01');
SELECT tde_create_type('timestamptz', 'd8c1b0a9-2e3f-4a5b-8c7d-1f0e9d8c7b67');
SELECT tde_create_type('interval',    '29384756-afbe-4dcd-9e8f-7a6b5c4d3e12');
SELECT tde_create_type('bytea',       '5a4b3c2d-9f8e-4d7c-b6a5-4f3e2d1c0b78');
SELECT tde_create_type('uuid',        'ab12cd34-ef56-4a78-8b90-1c2d3e4f5a23');
SELECT tde_create_type('json',        '0f1e2d3c-4b5a-4697-b8a9-cadbecfd0e34');
SELECT tde_create_type('jsonb',       '7e6d5c4b-3a29-4180-9f0e-1d2c3b4a5f45');
SELECT tde_create_type('inet',        'd4c3b2a1-f0e9-48d7-86c5-b4a392817f56');

--
-- Parts of strings: of a large value without MAC they read and decrypt no more than they need.  Not for bpchar, whose
-- functions are those of text without the blanks at its end.
--

CREATE FUNCTION substr(encrypted_text, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION substr(encrypted_text, int4) IS 'extract portion of encrypted string';
CREATE FUNCTION substr(encrypted_text, int4, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION substr(encrypted_text, int4, int4) IS 'extract portion of encrypted string';
CREATE FUNCTION "left"(encrypted_text, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_left' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION "left"(encrypted_text, int4) IS 'extract the first n characters';
CREATE FUNCTION substr(encrypted_varchar, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION substr(encrypted_varchar, int4) IS 'extract portion of encrypted string';
CREATE FUNCTION substr(encrypted_varchar, int4, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION substr(encrypted_varchar, int4, int4) IS 'extract portion of encrypted string';
CREATE FUNCTION "left"(encrypted_varchar, int4) RETURNS text
  AS 'MODULE_PATHNAME', 'tde_left' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION "left"(encrypted_varchar, int4) IS 'extract the first n characters';
CREATE FUNCTION substr(encrypted_bytea, int4) RETURNS bytea
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION substr(encrypted_bytea, int4) IS 'extract portion of encrypted string';
CREATE FUNCTION substr(encrypted_bytea, int4, int4) RETURNS bytea
  AS 'MODULE_PATHNAME', 'tde_substr' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION substr(encrypted_bytea, int4, int4) IS 'extract portion of encrypted string';

--
-- Last: from here on declarations are watched, and the first keys are made if the wallet is open already.
--

CREATE EVENT TRIGGER tde_column_ddl ON ddl_command_end
  WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'ALTER TABLE', 'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE',
               'CREATE TYPE', 'ALTER TYPE', 'CREATE DOMAIN', 'CREATE SCHEMA', 'CREATE INDEX', 'CREATE STATISTICS')
  EXECUTE FUNCTION tde_ddl_trigger();
ALTER EVENT TRIGGER tde_column_ddl ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER tde_column_ddl IS
  'gives encrypted columns that were declared without modifiers the default specification';

DO $$
BEGIN
  IF NOT @extschema@.tde_ensure_keys() THEN
    RAISE WARNING 'the wallet is not open, so no data keys were made yet'
      USING HINT = 'Make a wallet with tde_wallet_create(), or open it with tde_wallet_open().';
  END IF;
  IF NOT '@extschema@' = ANY (ARRAY(SELECT trim(both ' "' FROM p) FROM unnest(string_to_array(
      (SELECT reset_val FROM pg_catalog.pg_settings WHERE name = 'search_path'), ',')) p)) THEN
    RAISE WARNING 'schema "%" is not on the default search_path', '@extschema@'
      USING DETAIL = 'Comparisons with encrypted columns would then silently use the operators of the base type, without indexes.',
            HINT = 'Add the schema to search_path.';
  END IF;
END
$$;
