-- What several of these tests need: the encrypted types that the extension has, sample values of their base types, and a
-- way to see and to forge stored bytes.  Included inside the test's transaction, so nothing of it stays.
\set ON_ERROR_STOP on

-- Values that are at an end of a range, at a block boundary (15, 16, 17 bytes), or written differently but equal.
CREATE TEMP TABLE sample (base text, value text, nomac boolean DEFAULT true);
INSERT INTO sample
  SELECT base, value
  FROM unnest('{text,character varying,character}'::text[]) base,
       unnest(ARRAY['', ' ', 'a', 'A', 'a ', 'ab', 'NULL', '0', '{a,"b"}', E'tab\tline\nquote''"\\', 'fifteen letters', 'sixteen letters!',
                    'seventeen letters', repeat('x', 200), repeat('0123456789', 500), 'Grüße', '世界', '🌍 and ß', E'\u00e9', E'e\u0301']) value;
INSERT INTO sample
  SELECT base, unnest(list) FROM (VALUES
    ('smallint',         ARRAY['0', '1', '-1', '32767', '-32768']),
    ('integer',          ARRAY['0', '1', '-1', '2147483647', '-2147483648']),
    ('bigint',           ARRAY['0', '1', '-1', '4294967296', '9223372036854775807', '-9223372036854775808']),
    ('numeric',          ARRAY['0', '0.00', '1', '1.0', '1.5', '1.50', '-1', '-0.0001', '9999.9999', '10000', '1e-1000', '1e1000', '-1e1000', 'NaN',
                               'Infinity', '-Infinity', '12345678901234567890.12345678901234567890', repeat('9', 400)]),
    ('real',             ARRAY['0', '-0', '1', '0.1', '-1.5', '3.4028235e+38', '-3.4028235e+38', '1e-45', 'NaN', 'Infinity', '-Infinity']),
    ('double precision', ARRAY['0', '-0', '1', '0.1', '-1.5', '1.7976931348623157e+308', '5e-324', 'NaN', 'Infinity', '-Infinity']),
    ('boolean',          ARRAY['true', 'false']),
    ('date',             ARRAY['2000-01-01', '1999-12-31', '4713-11-24 BC', '5874897-12-31', 'infinity', '-infinity']),
    ('time without time zone',      ARRAY['00:00', '23:59:59.999999', '24:00:00', '12:34:56.789']),
    ('time with time zone',         ARRAY['00:00+15:59:59', '24:00:00-15:59:59', '12:00+00', '13:00+01', '12:00:00.000001+00']),
    ('timestamp without time zone', ARRAY['2000-01-01', '1999-12-31 23:59:59.999999', '4713-11-24 BC', '294276-12-31 23:59:59.999999', 'infinity', '-infinity']),
    ('timestamp with time zone',    ARRAY['2000-01-01+00', '1999-12-31 23:59:59.999999+00', '4713-11-25+00 BC', '294276-12-30 23:59:59.999999+00',
                                          'infinity', '-infinity']),
    ('interval',         ARRAY['0', '1 mon', '30 days', '-1 mon 1 day -00:00:00.000001', '170000000 years', '-170000000 years']),
    ('bytea',            ARRAY['', '\x00', '\x0000', '\xff', '\x' || repeat('00ff', 8), '\x' || repeat('5a', 1000)]),
    ('uuid',             ARRAY['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'])
  ) AS list (base, list);
-- A flipped bit in these could lead their functions astray, so they are not to be had without a MAC.
INSERT INTO sample
  SELECT base, unnest(list), false FROM (VALUES
    ('json',             ARRAY['{}', 'null', ' [1, 2.50, "ü"] ', '{"k":1, "k":2}', '"' || repeat('x', 1000) || '"']),
    ('jsonb',            ARRAY['{}', 'null', '[1, 2.50, "ü"]', '{"k": {"n": [true, null, -1e10]}}']),
    ('inet',             ARRAY['0.0.0.0/0', '192.168.1.5/24', '192.168.1.5', '::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'])
  ) AS list (base, list);

-- plain is what the base type is called in a cast: "character" would be character(1).
CREATE TEMP TABLE family AS
  SELECT t.oid::regtype AS enc, t.typname AS name, s.base_type::regtype AS base, s.base_type AS plain, coalesce(bool_or(v.nomac), false) AS nomac,
         count(v.value) AS samples
  FROM pg_type t
  JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e'
  JOIN pg_extension x ON x.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass AND x.extname = 'tde_column'
  CROSS JOIN LATERAL tde_internal.tde_type_spec(t.oid, -1) s
  LEFT JOIN sample v ON v.base::regtype = s.base_type::regtype
  WHERE s.base_type IS NOT NULL AND t.typcategory <> 'A'
  GROUP BY 1, 2, 3, 4;

-- Every combination of words.  Those that are not good are refused.  spec is the first byte of a value without its flag
-- and parity: cipher 2 bits, mode, salt, MAC 2 bits.
CREATE TEMP TABLE combination AS
  SELECT cipher, salt, mac, mode, format('%s,%s,%s,%s', word, salt, mac, mode) AS words,
         NOT (mode = 'ctr' AND (cipher = '3des168' OR salt = 'nosalt' AND mac = 'nomac') OR
              mac = 'gcm' AND (mode = 'cbc' OR cipher = '3des168')) AS good,
         code - 1 + CASE mode WHEN 'cbc' THEN 4 ELSE 0 END + CASE salt WHEN 'salt' THEN 8 ELSE 0 END +
         CASE mac WHEN 'mac' THEN 16 WHEN 'sha256' THEN 32 WHEN 'gcm' THEN 48 ELSE 0 END AS spec
  FROM (VALUES ('aes128', 'aes128', 1), ('aes192', 'aes192', 2), ('aes256', 'aes256', 3), ('3des168', '''3des168''', 4)) AS c (cipher, word, code),
       unnest('{salt,nosalt}'::text[]) salt, unnest('{mac,sha256,gcm,nomac}'::text[]) mac, unnest('{ctr,cbc}'::text[]) mode;

-- The bytes of a stored value, and a value of such bytes.  byteasend() copies any varlena; only a superuser can declare an
-- internal function for a type that it was not made for.  Casts WITHOUT FUNCTION, which only a superuser can make either,
-- would not do for encrypted_bytea, which has a cast to bytea already.
CREATE FUNCTION stored(anyelement) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
DO $$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT * FROM family LOOP
    EXECUTE format('CREATE FUNCTION %I(bytea) RETURNS %s LANGUAGE internal IMMUTABLE STRICT AS ''byteasend''', 'forged_' || f.name, f.enc);
  END LOOP;
END
$$;

-- What a statement that must fail says: "SQLSTATE message [detail]"; NULL if it does not fail.
CREATE FUNCTION complaint(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  state text;
  message text;
  detail text;
BEGIN
  EXECUTE statement;
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
  RETURN state || ' ' || message || CASE WHEN detail = '' THEN '' ELSE ' [' || detail || ']' END;
END
$$;

-- Triple DES warns each time.
SET LOCAL client_min_messages = error;
-- Disabled plan types have prices that would have every plan compiled.
SET LOCAL jit = off;
