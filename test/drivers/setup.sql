-- What every driver works on: a table with a column of each encrypted type beside a plain table with the same values, and the list
-- of these columns, from which the programs take names, casts and the base types' binary form.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DROP TABLE IF EXISTS kind, plain, enc, original;

-- What the output function prints, which a cast to text does not give for bpchar, bool and inet.
CREATE OR REPLACE FUNCTION shown(anyelement) RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT CASE WHEN $1 IS NOT NULL THEN format('%s', $1) END $$;

CREATE TABLE kind (position int GENERATED ALWAYS AS IDENTITY, name text, modifiers text, value text, other text, send regproc);
INSERT INTO kind (name, modifiers, value, other) VALUES
  ('text',        NULL,   E'Grüße, "a"\t\\ {}',                    ''),
  ('varchar',     '40',   'O''Neil, 100 %',                        'x'),
  ('bpchar',      '8',    'ab',                                    'abcdefgh'),
  ('int2',        NULL,   '-32768',                                '1'),
  ('int4',        NULL,   '2147483647',                            '1'),
  ('int8',        NULL,   '9223372036854775807',                   '-1'),
  ('numeric',     '25,5', '12345678901234567890.12345',            '-0.50000'),
  ('float4',      NULL,   '0.25',                                  '-1.5'),
  ('float8',      NULL,   '0.1',                                   '-1.5e+300'),
  ('bool',        NULL,   't',                                     'f'),
  ('date',        NULL,   '2024-02-29',                            '1999-12-31'),
  ('time',        NULL,   '12:34:56.789012',                       '00:00:00'),
  ('timetz',      NULL,   '12:34:56.789012+02',                    '00:00:00+00'),
  ('timestamp',   NULL,   '2024-02-29 23:59:59.999999',            '1999-12-31 00:00:00'),
  ('timestamptz', NULL,   '2024-02-29 23:59:59.999999+00',         '1999-12-31 00:00:00+00'),
  ('interval',    NULL,   '2 days 03:04:05.5',                     '-00:00:01'),
  ('bytea',       NULL,   '\x00ff5c270a',                          '\x'),
  ('uuid',        NULL,   'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',  '00000000-0000-0000-0000-000000000000'),
  ('json',        NULL,   '{"k": [1, 2.5, null, "ü"]}',            '{}'),
  ('jsonb',       NULL,   '{"k": [1, 2.5, null, "ü"]}',            '{}'),
  ('inet',        NULL,   '192.168.1.5/24',                        '2001:db8::1');
UPDATE kind SET send = typsend FROM pg_type WHERE pg_type.oid = kind.name::regtype;

-- Row 1 has the values, row 2 the others, row 3 NULLs; rows above are the drivers' own.  Columns salted and not, in turn.
DO $$
DECLARE
  plain text;
  enc   text;
BEGIN
  SELECT string_agg(format('c_%s %1$s%s', name, '(' || modifiers || ')'), ', ' ORDER BY position),
         string_agg(format('c_%s encrypted_%1$s(%s)', name,
                           concat_ws(',', modifiers, CASE position % 2 WHEN 0 THEN 'nosalt' ELSE 'salt' END)), ', ' ORDER BY position)
    INTO plain, enc FROM kind;
  EXECUTE format('CREATE TABLE plain (id int PRIMARY KEY, %s, c_array int4[])', plain);
  EXECUTE format('CREATE TABLE enc (id int PRIMARY KEY, %s, c_array encrypted_int4[])', enc);
  EXECUTE format('INSERT INTO plain VALUES (1, %s, ''{1,NULL,-3}''), (2, %s, ''{}'')',
                 (SELECT string_agg(quote_literal(value), ', ' ORDER BY position) FROM kind),
                 (SELECT string_agg(quote_literal(other), ', ' ORDER BY position) FROM kind));
  INSERT INTO plain VALUES (3);
  INSERT INTO enc SELECT * FROM plain;
END
$$;

-- The three rows again, in this order on disk, for COPY of a whole table.
CREATE TABLE original AS TABLE plain;
CREATE OR REPLACE FUNCTION refill() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE plain, enc;
  INSERT INTO plain SELECT * FROM original ORDER BY id;
  INSERT INTO enc SELECT * FROM original ORDER BY id;
END
$$;
