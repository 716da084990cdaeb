\set id random(1, :rows)
SELECT id, pass, cc FROM card WHERE id = :id;
