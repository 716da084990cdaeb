CREATE EXTENSION tde_column;
SELECT tde_wallet_create();
CREATE TABLE employee (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name   text NOT NULL,
  card   encrypted_text(nosalt) NOT NULL UNIQUE,
  salary encrypted_numeric(10, 2) NOT NULL
);
INSERT INTO employee (name, card, salary) VALUES
  ('Ada Lovelace', '4111111111111111', 48123.45),
  ('Grace Hopper', '5500000000000004', 65007.89),
  ('Alan Turing', '340000000000009', 40000.00);
SELECT card, salary FROM employee WHERE card = '5500000000000004';
