-- No declaration gets a decrypted value into an index, a partition key or a generated column, whatever the type and whatever
-- the cast, function or operator that decrypts it.
BEGIN;
\ir include/family.sql
SELECT * FROM no_plan();

-- Expressions over a column e that give something in clear.
CREATE FUNCTION decrypting(f family) RETURNS TABLE (expression text) LANGUAGE sql AS $$
  SELECT format('e::%s', casttarget::regtype) FROM pg_cast WHERE castsource = f.enc AND casttarget NOT IN (SELECT enc FROM family)
  UNION
  -- any function of the base type alone, any operator of two of them
  SELECT format('pg_catalog.%I(e)', proname) FROM pg_proc
  WHERE oid < 12000 AND prokind = 'f' AND NOT proretset AND pronargs = 1 AND proargtypes[0] = f.base
  UNION
  SELECT format('e::%s OPERATOR(pg_catalog.%s) e::%1$s', f.base, oprname) FROM pg_operator
  WHERE oid < 12000 AND oprleft = f.base AND oprright = f.base
  UNION
  SELECT unnest(ARRAY['(ARRAY[e])::text[]', 'ROW(e)::text', 'to_json(e)', 'concat(e)', 'format(''%s'', e)'])
$$;

CREATE FUNCTION accepted(f family) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  declaration text;
  failure text;
BEGIN
  EXECUTE format('CREATE TABLE held (id int, e %s)', f.enc);
  FOR declaration IN
    SELECT unnest(ARRAY[format('CREATE INDEX ON held ((%s))', expression),
                        format('CREATE INDEX ON held (id) WHERE (%s) IS NOT NULL', expression),
                        format('CREATE TABLE other (e %s) PARTITION BY LIST ((%s))', f.enc, expression)]) FROM decrypting(f)
    UNION ALL
    SELECT format('CREATE TABLE other (e %s, g %s GENERATED ALWAYS AS (e) STORED)', f.enc, casttarget::regtype)
    FROM pg_cast WHERE castsource = f.enc AND casttarget NOT IN (SELECT enc FROM family) AND castcontext <> 'e'
    UNION ALL
    SELECT format('CREATE STATISTICS s ON (%s), id FROM held', expression) FROM decrypting(f)
  LOOP
    DROP TABLE IF EXISTS other;
    failure := complaint(declaration);
    -- an index of encrypted results is one that hides what it computes; whether a condition is true is no value
    CONTINUE WHEN failure IS NULL AND declaration LIKE 'CREATE INDEX %'
      AND (SELECT bool_and(atttypid IN (SELECT enc FROM family) OR declaration LIKE '% WHERE %') FROM pg_attribute
           WHERE attrelid = (SELECT max(indexrelid) FROM pg_index WHERE indrelid = 'held'::regclass));
    -- and so is such a partition key
    CONTINUE WHEN failure IS NULL AND declaration LIKE '% PARTITION BY %'
      AND (SELECT bool_and(opcintype IN (SELECT enc FROM family)) FROM pg_partitioned_table, unnest(partclass) AS c, pg_opclass
           WHERE partrelid = to_regclass('other') AND pg_opclass.oid = c);
    -- 42P17: not immutable, or refused by us; 42P16: of a pseudo-type; 0A000, 42704: of a type without an order; 42804: of another type
    IF failure !~ '^(42P17|42P16|0A000|42704|42804)' OR failure IS NULL
      AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('other') AND attname = 'g' AND atttypid IN (SELECT enc FROM family)) THEN
      RETURN NEXT coalesce(failure, 'accepted') || ': ' || declaration;
    END IF;
  END LOOP;
  DROP TABLE IF EXISTS other;
  DROP TABLE held;
END
$$;

SELECT cmp_ok((SELECT count(*) FROM decrypting(f)), '>', 6::bigint, format('ways to decrypt %s are found', enc)) FROM family f ORDER BY name;
SELECT is_empty(format('SELECT accepted(f) FROM family f WHERE name = %L', name), format('none of them is accepted for %s', enc)) FROM family f ORDER BY name;

SELECT finish();
ROLLBACK;
