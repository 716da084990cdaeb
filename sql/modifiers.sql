-- Type modifiers: every word, and every mistake.
CREATE TABLE good (
  c1 encrypted_text(aes128), c2 encrypted_text(AES192, NoSalt), c3 encrypted_text(nomac, aes256),
  c4 encrypted_text('3des168'), c5 encrypted_text(des3, nosalt, nomac), c6 encrypted_text(cbc), c7 encrypted_text(sha1),
  c8 encrypted_text(sha256, ctr), c9 encrypted_text(nosalt, nomac), c10 encrypted_text('key=seven', salt),
  c11 encrypted_varchar(25), c12 encrypted_varchar(4094, nosalt), c13 encrypted_numeric(15), c14 encrypted_numeric(62, 10, cbc),
  c15 encrypted_timestamptz(0), c16 encrypted_timestamptz(6, nomac), c17 encrypted_int8(nosalt, nomac, aes128)
);
\d good
DROP TABLE good;

\set VERBOSITY default
CREATE TABLE bad (a encrypted_text(aes512));
CREATE TABLE bad (a encrypted_text(salt, nosalt));
CREATE TABLE bad (a encrypted_text(salt, salt));
CREATE TABLE bad (a encrypted_text(aes128, aes256));
CREATE TABLE bad (a encrypted_text(mac, nomac));
CREATE TABLE bad (a encrypted_text(ctr, nosalt, nomac));
CREATE TABLE bad (a encrypted_text('3des168', ctr));
CREATE TABLE bad (a encrypted_text(25));
CREATE TABLE bad (a encrypted_text(aes256, 25));
SET tde_column.create_missing_keys = off;
CREATE TABLE bad (a encrypted_text('key=payroll'));
RESET tde_column.create_missing_keys;
CREATE TABLE bad (a encrypted_text('key=99999999'));
CREATE TABLE bad (a encrypted_varchar(0));
CREATE TABLE bad (a encrypted_numeric(5, 2, 1));
-- an SQL word does not begin with a digit
CREATE TABLE bad (a encrypted_text(3des168));

-- the default
SHOW tde_column.default_spec;
SET tde_column.default_spec = 'aes128, nosalt, sha256';
CREATE TABLE bare (a encrypted_text, b encrypted_text(salt), c encrypted_varchar(3));
\d bare
DROP TABLE bare;
SET tde_column.default_spec = 'aes128, nosalt, nomac, ctr';
SET tde_column.default_spec = 'des3';
SET tde_column.default_spec = 'aes9000';
SET tde_column.default_spec = 'key=1';
RESET tde_column.default_spec;
