-- What the README shows.
CREATE TABLE card (
  id     int PRIMARY KEY,
  holder encrypted_text(aes256, salt),
  pan    encrypted_text(aes256, nosalt) UNIQUE,
  amount encrypted_numeric(15, 2, aes128, salt, nomac)
);
\d card
INSERT INTO card VALUES (1, 'Alice', '4111111111111111', 99.995), (2, 'Bob', '5500000000000004', 12);
SELECT * FROM card ORDER BY holder;
SELECT holder FROM card WHERE pan = '5500000000000004';
SELECT upper(holder), amount * 2 FROM card WHERE holder LIKE 'A%';
SELECT sum(amount), max(length(pan)) FROM card;
UPDATE card SET holder = 'Carol', amount = amount + 1 WHERE id = 2;
SELECT * FROM card WHERE id = 2;
INSERT INTO card (id, pan) VALUES (3, '4111111111111111');
INSERT INTO card VALUES (3, 'Alan', '4111111111111111', 1) ON CONFLICT (pan) DO UPDATE SET holder = excluded.holder;
SELECT * FROM card ORDER BY id;
SELECT column_name, type, base_type, cipher, mode, salt, mac, key_slot FROM tde.encrypted_columns WHERE table_name = 'card';
COPY card TO STDOUT;
COPY card FROM STDIN;
4	Dave	340000000000009	\N
\.
SELECT * FROM card WHERE id = 4;
DROP TABLE card;
