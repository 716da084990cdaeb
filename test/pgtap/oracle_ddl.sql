-- tde_import_oracle_ddl(): Oracle's declarations as ours, what is left out, and what is an error with its line.
BEGIN;
SELECT * FROM no_plan();

-- What comes out, or the error.
CREATE FUNCTION imported(ddl text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  RETURN (SELECT string_agg(regexp_replace(c, '\s+', ' ', 'g'), '; ' ORDER BY n) FROM tde_import_oracle_ddl(ddl) WITH ORDINALITY AS t (c, n));
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' ', SQLSTATE, SQLERRM || '.', nullif(hint, ''));
END
$$;
SET client_min_messages = error;

--
-- Types and clauses: each is a column of a table
--
SELECT is(imported(format('CREATE TABLE t (a %s)', oracle)), format('CREATE TABLE t ( a %s)', ours), oracle) FROM (VALUES
  ('VARCHAR2(30)', 'varchar(30)'), ('VARCHAR2(30 CHAR) ENCRYPT', 'encrypted_varchar(30)'), ('varchar2 (30 byte) encrypt no salt', 'encrypted_varchar(30,nosalt)'),
  ('NVARCHAR2(5) ENCRYPT SALT', 'encrypted_varchar(5,salt)'), ('CHAR ENCRYPT', 'encrypted_bpchar(1)'), ('NCHAR(3)', 'char(3)'),
  ('NUMBER', 'numeric'), ('NUMBER(15,2) ENCRYPT USING ''AES192''', 'encrypted_numeric(15,2,aes192)'), ('NUMBER(*,0)', 'numeric(38,0)'), ('NUMBER(5,-2)', 'numeric(5,-2)'),
  ('INTEGER ENCRYPT', 'encrypted_numeric(38)'), ('FLOAT(126)', 'double precision'), ('BINARY_FLOAT ENCRYPT', 'encrypted_float4'), ('DOUBLE PRECISION ENCRYPT', 'encrypted_float8'),
  ('DATE ENCRYPT', 'encrypted_timestamp(0)'), ('TIMESTAMP', 'timestamp(6)'), ('TIMESTAMP (9) WITH LOCAL TIME ZONE ENCRYPT', 'encrypted_timestamptz(6)'),
  ('INTERVAL YEAR (2) TO MONTH', 'interval'), ('INTERVAL DAY TO SECOND (6) ENCRYPT', 'encrypted_interval'),
  ('CLOB ENCRYPT USING ''AES128''', 'encrypted_text(aes128)'), ('LONG RAW', 'bytea'), ('RAW(16) ENCRYPT', 'encrypted_bytea'), ('BLOB', 'bytea'), ('JSON ENCRYPT', 'encrypted_jsonb'),
  ('DATE ENCRYPT USING ''3DES168'' ''SHA-1'' NO SALT', 'encrypted_timestamp(0,''3des168'',nosalt,mac)'),
  ('DATE ENCRYPT ''NOMAC''', 'encrypted_timestamp(0,nomac)'), ('DATE ENCRYPT USING ''aes256'' ''NOMAC'' NO SALT', 'encrypted_timestamp(0,aes256,nosalt,nomac,cbc)'),
  ('DATE ENCRYPT USING ''AES256'' ''GCM'' SALT', 'encrypted_timestamp(0,aes256,salt,gcm)'),
  ('DATE ENCRYPT USING ''AES256'' IDENTIFIED BY "a b" NO SALT', 'encrypted_timestamp(0,aes256,nosalt)'),
  ('DATE DEFAULT SYSDATE ENCRYPT NO SALT NOT NULL ENABLE', 'encrypted_timestamp(0,nosalt) DEFAULT LOCALTIMESTAMP(0) NOT NULL'),
  ('VARCHAR2(9) DEFAULT ''it''''s'' || ''x'' NOT NULL', 'varchar(9) DEFAULT ''it''''s'' || ''x'' NOT NULL'), ('NUMBER DEFAULT -1 NULL', 'numeric DEFAULT - 1'),
  ('NUMBER CONSTRAINT "Ck" CHECK (a > 0 AND MOD(a, 2) = 1) ENABLE', 'numeric CONSTRAINT "Ck" CHECK ( a > 0 AND mod ( a , 2 ) = 1)'),
  ('NUMBER REFERENCES s.u (id) ON DELETE CASCADE', 'numeric REFERENCES s.u (id) ON DELETE CASCADE'), ('NUMBER UNIQUE USING INDEX TABLESPACE users', 'numeric UNIQUE'))
  AS types (oracle, ours);

-- What is made is what types understand.
SELECT lives_ok(format('CREATE TABLE %I (a %s)', ours, ours), 'there is a type ' || ours) FROM unnest(ARRAY['encrypted_varchar(30,nosalt)', 'encrypted_numeric(15,2,aes192)',
  'encrypted_timestamp(0,aes256,nosalt,nomac,cbc)', 'encrypted_timestamp(0,''3des168'',nosalt,mac)', 'encrypted_timestamptz(6)', 'encrypted_bpchar(1)']) ours;

--
-- Statements
--
SELECT is(imported($$
-- CONNECT SYSTEM
ALTER SESSION SET EVENTS '10150 TRACE NAME CONTEXT FOREVER, LEVEL 1';
CREATE TABLE "HR"."EMPLOYEE"
   (	"ID" NUMBER(6,0) NOT NULL ENABLE,
	"Name" VARCHAR2(40 CHAR) ENCRYPT USING 'AES192' 'SHA-1',
	"DOC" CLOB ENCRYPT USING 'AES192' 'SHA-1',
	 CONSTRAINT "EMP_PK" PRIMARY KEY ("ID")
  USING INDEX PCTFREE 10 INITRANS 2 MAXTRANS 255 COMPUTE STATISTICS
  STORAGE(INITIAL 65536 NEXT 1048576 MINEXTENTS 1 MAXEXTENTS 2147483645
  PCTINCREASE 0 FREELISTS 1 FREELIST GROUPS 1
  BUFFER_POOL DEFAULT FLASH_CACHE DEFAULT CELL_FLASH_CACHE DEFAULT)
  TABLESPACE "USERS"  ENABLE,
	 CONSTRAINT "EMP_FK" FOREIGN KEY ("ID", "Name") REFERENCES "HR"."OTHER" ("A", "B") ENABLE NOVALIDATE
   ) $$), '0A000 cannot import "NOVALIDATE" at line 14 of Oracle''s DDL. Expected is ")".', 'a constraint in a state of its own');
SELECT is(imported($$
CREATE TABLE "HR"."EMPLOYEE"
   (	"ID" NUMBER(6,0) NOT NULL ENABLE,
	"Name" VARCHAR2(40 CHAR) ENCRYPT USING 'AES192' 'SHA-1',
	"DOC" CLOB ENCRYPT USING 'AES192' 'SHA-1',
	 CONSTRAINT "EMP_PK" PRIMARY KEY ("ID")
  USING INDEX PCTFREE 10 INITRANS 2 MAXTRANS 255 COMPUTE STATISTICS
  STORAGE(INITIAL 65536 NEXT 1048576 FREELIST GROUPS 1 BUFFER_POOL DEFAULT)
  TABLESPACE "USERS"  ENABLE,
	 CONSTRAINT "EMP_FK" FOREIGN KEY ("ID", "Name") REFERENCES "HR"."OTHER" ("A", "B") ON DELETE SET NULL ENABLE
   ) SEGMENT CREATION IMMEDIATE
  PCTFREE 10 PCTUSED 40 INITRANS 1 MAXTRANS 255
 NOCOMPRESS LOGGING
  TABLESPACE "USERS"
 LOB ("DOC") STORE AS SECUREFILE ( TABLESPACE "USERS" ENABLE STORAGE IN ROW CHUNK 8192 NOCACHE LOGGING NOCOMPRESS KEEP_DUPLICATES)  ENABLE ROW MOVEMENT ;
/* next */
ALTER TABLE "HR"."EMPLOYEE" MODIFY ("Name" ENCRYPT NO SALT NOT NULL ENABLE, doc DECRYPT)
/
alter table hr.employee add (x varchar2(3) encrypt using '3DES168', constraint c check (x <> 'y')) modify x varchar2(5);
ALTER TABLE hr.employee MODIFY (ssn ENCRYPT);
ALTER TABLE hr.employee REKEY;
CREATE UNIQUE INDEX "HR"."I" ON "HR"."EMPLOYEE" ("Name");
CREATE SEQUENCE s; COMMENT ON TABLE hr.employee IS 'x;'; GRANT SELECT ON hr.employee TO x;$$),
  'CREATE TABLE hr.employee ( id numeric(6,0) NOT NULL, "Name" encrypted_varchar(40,aes192,mac), doc encrypted_text(aes192,mac), CONSTRAINT emp_pk PRIMARY KEY (id), '
  'CONSTRAINT emp_fk FOREIGN KEY (id, "Name") REFERENCES hr.other (a, b) ON DELETE SET NULL); '
  'CALL tde_encrypt_column(''hr.employee'', ''Name'', ''nosalt''); ALTER TABLE hr.employee ALTER COLUMN "Name" SET NOT NULL; CALL tde_decrypt_column(''hr.employee'', ''doc''); '
  'ALTER TABLE hr.employee ADD x encrypted_varchar(3,''3des168''); ALTER TABLE hr.employee ADD CONSTRAINT c CHECK ( x <> ''y''); '
  'ALTER TABLE hr.employee ALTER COLUMN x TYPE varchar(5); CALL tde_encrypt_column(''hr.employee'', ''ssn''); CALL tde_rekey_table(''hr.employee'')',
  'as DBMS_METADATA writes it, and as people do');
SELECT is(imported(ddl), NULL, format('nothing comes of %L', ddl)) FROM unnest(ARRAY['', ';', ' -- x', '/', '/* x */']) ddl;

-- A slash ends a statement that is left out, too: nothing behind it is lost.
SELECT is(imported(skipped || E'\n/\nCREATE TABLE kept (a NUMBER)\n / \nCREATE TABLE also (a NUMBER);'), 'CREATE TABLE kept ( a numeric); CREATE TABLE also ( a numeric)', skipped)
FROM unnest(ARRAY['CREATE INDEX i ON t (a)', E'CREATE INDEX i ON t (a / b, (c\n/ d))', E'CREATE INDEX i ON t (a\n/\nb) LOCAL (PARTITION p)', 'CREATE SEQUENCE s',
  'GRANT SELECT ON t TO x', 'COMMENT ON TABLE t IS ''a/b''', 'ALTER SESSION SET NLS_SORT = binary', 'ALTER INDEX i REBUILD']) skipped;
SELECT is(imported(E'ALTER TABLE t ADD a NUMBER DEFAULT 6\n/ 2\n/\nALTER TABLE t ADD b NUMBER DEFAULT 1\n/'),
  'ALTER TABLE t ADD a numeric DEFAULT 6 / 2; ALTER TABLE t ADD b numeric DEFAULT 1', 'and a default, but not where it divides');

--
-- What is not understood
--
SELECT is(imported(ddl), said, ddl) FROM (VALUES
  ('CREATE TABLE t (a DATE) PARTITION BY RANGE (a) (x)', '0A000 cannot import "PARTITION" at line 1 of Oracle''s DDL.'),
  (E'CREATE TABLE t (a DATE,\nb SDO_GEOMETRY)', '0A000 cannot import "SDO_GEOMETRY" at line 2 of Oracle''s DDL. It is no type that is known here: write one of PostgreSQL''s there, by hand, in what comes out.'),
  ('CREATE TABLE t (a CLOB) LOB (a) STORE AS SECUREFILE (ENCRYPT USING ''AES128'')', '0A000 cannot import "ENCRYPT" at line 1 of Oracle''s DDL. Write the ENCRYPT clause behind the type of the column.'),
  ('CREATE INDEX i ON t (encrypt)', '0A000 cannot import "ENCRYPT" at line 1 of Oracle''s DDL. Write the ENCRYPT clause behind the type of the column.'),
  (E'CREATE INDEX i ON t (a\n/\nCREATE TABLE lost (a NUMBER);\nCREATE TABLE kept (a NUMBER)', '0A000 cannot import ";" at line 3 of Oracle''s DDL.'),
  ('CREATE TABLE t (a DATE ENCRYPT USING ''ROT13'')', '0A000 cannot import line 1 of Oracle''s DDL. Algorithms are ''AES128'', ''AES192'', ''AES256'' and ''3DES168''.'),
  ('CREATE TABLE t (a DATE ENCRYPT ''MD5'')', '0A000 cannot import line 1 of Oracle''s DDL. Integrity is ''SHA-1'', ''NOMAC'' or ''GCM''.'),
  ('CREATE TABLE t (a DATE ENCRYPT NO MAC)', '0A000 cannot import "MAC" at line 1 of Oracle''s DDL. Expected is "SALT".'),
  ('CREATE TABLE t (a DATE ENCRYPT IDENTIFIED geheim)', '0A000 cannot import line 1 of Oracle''s DDL. Expected is "BY".'),
  ('CREATE TABLE t (a DATE ENCRYPT IDENTIFIED BY)', '0A000 cannot import line 1 of Oracle''s DDL. Expected is a password.'),
  ('CREATE TABLE t (a XMLTYPE ENCRYPT)', '0A000 cannot import ")" at line 1 of Oracle''s DDL. This type has no encrypted one.'),
  ('CREATE TABLE t (a DATE DEFAULT to_date(''1''))', '0A000 cannot import "TO_DATE" at line 1 of Oracle''s DDL. This function is not known here: write what stands for it there, by hand.'),
  ('CREATE TABLE t (a NUMBER DEFAULT s.nextval)', '0A000 cannot import "S" at line 1 of Oracle''s DDL. A default has no names: write what stands for it there, by hand.'),
  ('CREATE TABLE t (a NUMBER GENERATED ALWAYS AS (1) VIRTUAL)', '0A000 cannot import "GENERATED" at line 1 of Oracle''s DDL. Expected is ")".'),
  ('CREATE TABLE t (a NUMBER CHECK (a > 0) DISABLE)', '0A000 cannot import "DISABLE" at line 1 of Oracle''s DDL. Expected is ")".'),
  ('ALTER TABLE t MODIFY (a UNIQUE)', '0A000 cannot import ")" at line 1 of Oracle''s DDL. Before it, MODIFY changes more than type, encryption and NOT NULL.'),
  ('ALTER TABLE t DROP COLUMN a', '0A000 cannot import "DROP" at line 1 of Oracle''s DDL. Expected is "REKEY".'),
  ('ALTER TABLE t REKEY USING ''AES256''', '0A000 cannot import "USING" at line 1 of Oracle''s DDL. Expected is "REKEY".'),
  ('CREATE GLOBAL TEMPORARY TABLE t (a DATE)', '0A000 cannot import "GLOBAL" at line 1 of Oracle''s DDL. Tables are imported; indexes and sequences are left out.'),
  ('DROP TABLE t', '0A000 cannot import "DROP" at line 1 of Oracle''s DDL. CREATE TABLE and ALTER TABLE are imported.'),
  ('CREATE TABLE t (a DATE', '0A000 Oracle''s DDL ends in a statement. Expected is ")".'),
  ('CREATE TABLE t (a VARCHAR2(3) DEFAULT ''x', '0A000 Oracle''s DDL ends in a statement.'),
  ('CREATE TABLE t (a "', '0A000 Oracle''s DDL ends in a statement.')) AS wrong (ddl, said);

-- Nothing crashes, and nothing but what is whole is imported.
SELECT is((SELECT count(*) FROM generate_series(0, length(ddl)) n WHERE imported(left(ddl, n)) !~ '^0A000 |^CREATE TABLE t '), 0::bigint, 'cut at each place')
FROM (VALUES ('CREATE TABLE t (a VARCHAR2(3 CHAR) ENCRYPT USING ''AES192'' IDENTIFIED BY x ''SHA-1'' NO SALT DEFAULT ''y'' NOT NULL, CHECK (a > ''z'' OR a IN (''1''))) TABLESPACE u;')) d (ddl);
SELECT is((SELECT count(*) FROM generate_series(0, length(ddl)) n WHERE imported(left(ddl, n)) ~ 'geheim'), 0::bigint, 'no error has a password')
FROM (VALUES ('CREATE TABLE t (a DATE ENCRYPT IDENTIFIED BY "geheim" NO SALT, b DATE ENCRYPT IDENTIFIED BY geheim x)')) d (ddl);

-- Memory grows with the text, not with its square.
SELECT cmp_ok(used, '<', 100 * 1024 * 1024::numeric, 'memory for many names in quotes') FROM (
  SELECT (SELECT sum(total_bytes) FROM pg_backend_memory_contexts)
  FROM tde_import_oracle_ddl((SELECT format('CREATE TABLE t (%s)', string_agg(format('"Column %s" VARCHAR2(9) DEFAULT ''it''''s''', n), ', ')) FROM generate_series(1, 5000) n))) AS m (used);

SELECT * FROM finish();
ROLLBACK;
