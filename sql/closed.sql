-- While the wallet is closed encrypted values cannot be touched, and everything else goes on.
CREATE TABLE w (id int PRIMARY KEY, a encrypted_text(nosalt));
CREATE INDEX ON w (a);
CREATE TABLE t (id int, a encrypted_text, n encrypted_numeric, p text);
INSERT INTO t VALUES (1, 'guarded', 1, 'plain');
CREATE STATISTICS s1 ON a, n, p FROM t;
CREATE STATISTICS s2 ON coalesce(a, a), (n IS NULL), p FROM t;
INSERT INTO w SELECT g, 'v' || g % 10 FROM generate_series(1, 100) g;
ANALYZE w;
SELECT tde_create_key('closed') > 0 AS made;
SELECT tde_wallet_close();
SELECT status FROM tde.wallet;
SELECT count(*), count(a), max(id) FROM w;
SELECT a FROM w WHERE id = 1;
SELECT id FROM w WHERE a = 'v1';
INSERT INTO w VALUES (101, 'x');
INSERT INTO w (id) VALUES (101);
UPDATE w SET a = 'x'::text WHERE id = 1;
COPY w FROM STDIN;
102	y
\.
COPY (SELECT a FROM w) TO STDOUT;
ANALYZE w;
\d w
-- declarations that guard against plaintext: what needs no value goes on
\set VERBOSITY terse
CREATE TABLE c (a encrypted_text, n encrypted_int4(nosalt), b encrypted_text GENERATED ALWAYS AS (a) STORED);
CREATE TABLE g (a encrypted_text, b text GENERATED ALWAYS AS (a) STORED);
CREATE STATISTICS c_s ON a, n FROM c;
CREATE STATISTICS g_s ON (a::text) FROM c;
CREATE INDEX ON c (a);
CREATE TABLE q AS SELECT a, a::text AS b FROM c;
DROP TABLE q;
CREATE TABLE q AS SELECT a FROM t;
DROP TABLE q;
CREATE TABLE q AS SELECT a::text AS b FROM t;
CREATE INDEX ON t (a);
ALTER TABLE c ADD d encrypted_date, DROP n;
ALTER TABLE c ALTER b DROP EXPRESSION;
\d c
ANALYZE c, t;
DROP STATISTICS s2;
ANALYZE c, t;
-- declarations need no key yet
CREATE TABLE later (a encrypted_text(nomac, 'key=closed'));
SELECT count(*) FROM tde.keys WHERE name = 'closed' AND kind = 'nomac';
\set VERBOSITY sqlstate
SELECT tde_wallet_open('wrong');
\set VERBOSITY default
SELECT tde_wallet_open('');
-- without an argument the passphrase command is asked; keys that were declared meanwhile are made
SELECT tde_wallet_open();
SELECT kind FROM tde.keys WHERE name = 'closed';
INSERT INTO later VALUES ('now');
SELECT * FROM later;
SELECT count(*) FROM w WHERE a = 'v1';
DROP TABLE w, t, c, g, later;
