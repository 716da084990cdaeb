CREATE TABLE employee (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name   text NOT NULL,
  card   encrypted_text(nosalt) NOT NULL UNIQUE,
  salary numeric(10, 2) NOT NULL
);
