INSERT INTO employee (name, card, salary) VALUES
  ('Ada Lovelace', '4111111111111111', 48123.45),
  ('Grace Hopper', '5500000000000004', 65007.89),
  ('Alan Turing', '340000000000009', 39000.00);
SELECT name, card, salary FROM employee WHERE card = '5500000000000004';
UPDATE employee SET salary = salary + 1000 WHERE salary < 40000;
SELECT name, salary FROM employee ORDER BY salary DESC;
