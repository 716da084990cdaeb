\set id random(1, :rows)
\set pass random(1000000000000000000, 9000000000000000000)
\set cc random(100000000000000, 999999999999999)
UPDATE card SET pass = :pass, cc = :cc WHERE id = :id;
