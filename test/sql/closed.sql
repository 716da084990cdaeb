-- While the wallet is closed encrypted values cannot be touched, and everything else goes on.
CREATE TABLE w (id int PRIMARY KEY, a encrypted_text(nosalt));
CREATE INDEX ON w (a);
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
DROP TABLE w, later;
