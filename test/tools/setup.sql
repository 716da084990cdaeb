-- The tables that each tool's database has: the same rows in columns of plain types and of encrypted ones.
CREATE TABLE plain (id int PRIMARY KEY, holder text, amount numeric(15,2), n int, born date, at timestamptz, ok bool, u uuid);
CREATE TABLE encrypted (id int PRIMARY KEY, holder encrypted_text(nosalt), amount encrypted_numeric(15,2), n encrypted_int4, born encrypted_date, at encrypted_timestamptz,
                        ok encrypted_bool, u encrypted_uuid);
INSERT INTO plain SELECT i, 'holder ' || i, i / 4.0, i % 100, date '2024-01-01' + i, timestamptz '2024-01-01 00:00Z' + i * interval '1 hour', i % 2 = 0, md5(i::text)::uuid
  FROM generate_series(1, 2000) i;
INSERT INTO encrypted SELECT * FROM plain;
CREATE INDEX ON encrypted (holder);
CREATE INDEX ON plain (holder);
