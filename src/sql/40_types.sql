--
-- The types.  Their tags are part of the value format: they never change.
--

SELECT tde_internal.tde_make_type('text',        '@extschema@', 'tde_internal', '0c8d6fb5-7d0c-4b43-9b57-52b2f2a6d7a1');
SELECT tde_internal.tde_make_type('varchar',     '@extschema@', 'tde_internal', '6d2a1c1e-0d5f-4c0b-8f0c-9c8e0e4f5b12');
SELECT tde_internal.tde_make_type('bpchar',      '@extschema@', 'tde_internal', 'e20c9a4d-5f3b-4b6e-8a17-21c8d9f0b389');
SELECT tde_internal.tde_make_type('int2',        '@extschema@', 'tde_internal', '71b8e3f2-9d4c-4e0a-b5a6-c3d2e1f0a49a');
SELECT tde_internal.tde_make_type('int4',        '@extschema@', 'tde_internal', '2f7e9d84-5b6a-4a1d-8c3e-7e1f0b9a6c34');
SELECT tde_internal.tde_make_type('int8',        '@extschema@', 'tde_internal', '9e3b5c76-1a2d-4f8e-b4c5-3d6a8f7e0b45');
SELECT tde_internal.tde_make_type('numeric',     '@extschema@', 'tde_internal', 'b1f0a7a3-3c4e-4d7e-9a51-0a9c2f6d8e23');
SELECT tde_internal.tde_make_type('float4',      '@extschema@', 'tde_internal', '3c5d7e9f-0a1b-4c2d-9e3f-4a5b6c7d8eab');
SELECT tde_internal.tde_make_type('float8',      '@extschema@', 'tde_internal', '84a6c8e0-1b3d-4f5a-a7b9-c1d3e5f709bc');
SELECT tde_internal.tde_make_type('bool',        '@extschema@', 'tde_internal', 'c9d8e7f6-a5b4-4c3d-82e1-f0a9b8c7d6cd');
SELECT tde_internal.tde_make_type('date',        '@extschema@', 'tde_internal', '47a6d2e8-8f1b-4e9c-a7d3-6b5c4a3f2e56');
SELECT tde_internal.tde_make_type('time',        '@extschema@', 'tde_internal', '15e2f3a4-b5c6-4d7e-8f90-a1b2c3d4e5de');
SELECT tde_internal.tde_make_type('timetz',      '@extschema@', 'tde_internal', '6a7b8c9d-e0f1-4a2b-b3c4-d5e6f7a8b9ef');
SELECT tde_internal.tde_make_type('timestamp',   '@extschema@', 'tde_internal', 'f0e1d2c3-b4a5-4968-8776-655443322f01');
SELECT tde_internal.tde_make_type('timestamptz', '@extschema@', 'tde_internal', 'd8c1b0a9-2e3f-4a5b-8c7d-1f0e9d8c7b67');
SELECT tde_internal.tde_make_type('interval',    '@extschema@', 'tde_internal', '29384756-afbe-4dcd-9e8f-7a6b5c4d3e12');
SELECT tde_internal.tde_make_type('bytea',       '@extschema@', 'tde_internal', '5a4b3c2d-9f8e-4d7c-b6a5-4f3e2d1c0b78');
SELECT tde_internal.tde_make_type('uuid',        '@extschema@', 'tde_internal', 'ab12cd34-ef56-4a78-8b90-1c2d3e4f5a23');
SELECT tde_internal.tde_make_type('json',        '@extschema@', 'tde_internal', '0f1e2d3c-4b5a-4697-b8a9-cadbecfd0e34');
SELECT tde_internal.tde_make_type('jsonb',       '@extschema@', 'tde_internal', '7e6d5c4b-3a29-4180-9f0e-1d2c3b4a5f45');
SELECT tde_internal.tde_make_type('inet',        '@extschema@', 'tde_internal', 'd4c3b2a1-f0e9-48d7-86c5-b4a392817f56');
-- together, since PostgreSQL plans all queries of the template anew after each that has made operators
SELECT tde_internal.tde_complete_types(ARRAY(SELECT type FROM tde.types));

--
-- Parts of strings: of a large value without MAC they read and decrypt no more than they need.  Not for bpchar, whose
-- functions are those of text without the blanks at its end.
--

SELECT tde_internal.tde_run(string_agg(tde_internal.tde_function_sql(
  format('@extschema@.%s(@extschema@.encrypted_%s, %s)', name, type, numbers), CASE type WHEN 'bytea' THEN type ELSE 'text' END, symbol, 'STABLE', comment), ''))
FROM (VALUES ('substr', 'tde_substr', 'int4', 'extract portion of encrypted string'), ('substr', 'tde_substr', 'int4, int4', 'extract portion of encrypted string'),
             ('"left"', 'tde_left', 'int4', 'extract the first n characters')) AS f (name, symbol, numbers, comment),
  unnest('{text,varchar,bytea}'::text[]) type
WHERE symbol = 'tde_substr' OR type <> 'bytea';

--
-- Lengths, which need no copy of the plaintext.
--

SELECT tde_internal.tde_run(string_agg(tde_internal.tde_function_sql(
  format('@extschema@.%s(@extschema@.encrypted_%s)', name, type), 'int4', 'tde_length', 'STABLE',
  CASE type WHEN 'bytea' THEN 'length in bytes' ELSE 'length in characters' END), ''))
FROM unnest('{length,char_length,character_length}'::text[]) name, unnest('{text,varchar,bpchar,bytea}'::text[]) type
WHERE name = 'length' OR type <> 'bytea';

--
-- LIKE, regular expressions and ^@, with which an index can help.  How many values match is asked of the values that ANALYZE has kept, as PostgreSQL
-- does for plain ones where it has kept enough.  encrypted_bpchar has its own because text is the preferred type,
-- whose operators see no blanks at the end; so has it octet_length().
--

CREATE FUNCTION tde_internal.tde_match_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION tde_internal.tde_match_support(internal) IS 'planner support for LIKE, regular expressions and ^@';
REVOKE ALL ON FUNCTION tde_internal.tde_match_support(internal) FROM PUBLIC;
SELECT tde_internal.tde_run(string_agg(
  -- IMMUTABLE, as comparisons are, for conditions of indexes
  tde_internal.tde_function_sql(format('%s(%s, text)', function, enc), 'boolean', 'tde_match', 'IMMUTABLE', format('implementation of %s operator', o.oprname),
                                'tde_internal.tde_match_support')
  || format(E'CREATE OPERATOR @extschema@.%s (LEFTARG = %s, RIGHTARG = text, FUNCTION = %s, %s RESTRICT = matchingsel, JOIN = %s);\n', o.oprname, enc, function,
            CASE WHEN n.oid IS NULL THEN '' ELSE format('NEGATOR = OPERATOR(@extschema@.%s),', n.oprname) END, o.oprjoin), ''))
FROM (VALUES ('@extschema@.encrypted_text', 'text'::regtype), ('@extschema@.encrypted_varchar', 'text'), ('@extschema@.encrypted_bpchar', 'bpchar'))
  AS sides (enc, string)
JOIN pg_operator o ON o.oprleft = string AND o.oprright = 'text'::regtype AND tde_internal.tde_is_core(o.oid)
  AND o.oprrest::text ~ '(like|regexeq|regexne|prefix)sel$'
JOIN pg_proc p ON p.oid = o.oprcode CROSS JOIN LATERAL (SELECT 'tde_internal.tde_' || p.proname) f (function)
LEFT JOIN pg_operator n ON n.oid = o.oprnegate;
CREATE FUNCTION @extschema@.octet_length(@extschema@.encrypted_bpchar) RETURNS int4
  LANGUAGE sql STABLE PARALLEL SAFE RETURN pg_catalog.octet_length($1::bpchar);
COMMENT ON FUNCTION @extschema@.octet_length(@extschema@.encrypted_bpchar) IS 'octet length';

--
-- An index that is declared with varchar_pattern_ops says so when a program reads the catalogs: the classes once more, under those names.
-- text_pattern_ops of a varchar, and the other way round, in the schema tde, since a schema has one class of a name.
--

-- new in 0.2.0
SELECT tde_internal.tde_run(string_agg(
  format(E'CREATE OPERATOR CLASS %1$s_pattern_ops FOR TYPE @extschema@.encrypted_%2$s USING btree '
         'FAMILY @extschema@.tde_%3$s_pattern_ops AS STORAGE @extschema@.encrypted_%2$s;\n'
         'COMMENT ON OPERATOR CLASS %1$s_pattern_ops USING btree IS ''the class of the encrypted type, for LIKE'';\n', class, type, family), ''))
FROM (VALUES ('tde_internal.text', 'text', 'text'), ('tde_internal.varchar', 'varchar', 'text'), ('tde_internal.bpchar', 'bpchar', 'bpchar'),
             ('tde.text', 'varchar', 'text'), ('tde.varchar', 'text', 'text')) AS classes (class, type, family);

--
-- What indexes over expressions hold: CREATE INDEX ON t (lower(name)) makes one over tde_computed(NULL::encrypted_text(...), 'lower(text)', name).
--

-- new in 0.2.0
CREATE FUNCTION tde_internal.tde_computed(anyelement, regprocedure, VARIADIC "any") RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION tde_internal.tde_computed(anyelement, regprocedure, VARIADIC "any") IS
  'result of an IMMUTABLE function of PostgreSQL''s, encrypted as the type of the first argument says; function 0: a cast';
