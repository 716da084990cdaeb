--
-- Arrays and elements of different sorts: int2[] || int4 is int4[], since || takes what both become.  A plain int2 does not become an encrypted int4;
-- so here an encrypted value becomes a type that stands for its own, and what stands beside is of a type that only one plain type becomes.
--

-- new in 0.2.0
DO $$
BEGIN
  EXECUTE (SELECT string_agg(format(
      E'CREATE FUNCTION %1$s RETURNS pg_catalog.%2$s[] LANGUAGE sql STABLE PARALLEL SAFE AS ''SELECT %3$s OPERATOR(pg_catalog.||) %4$s'';\n'
      'COMMENT ON FUNCTION %1$s IS ''implementation of || operator'';\n'
      'CREATE OPERATOR @extschema@.|| (LEFTARG = tde_internal.%5$s, RIGHTARG = tde_internal.%6$s, FUNCTION = tde_internal.tde_array_cat);\n',
      format('tde_internal.tde_array_cat(tde_internal.%s, tde_internal.%s)', l || l_array, r || r_array), result,
      format('$1::pg_catalog.%1$s%3$s::pg_catalog.%2$s%3$s', substr(l, strpos(l, '_') + 1), result, l_array),
      format('$2::pg_catalog.%1$s%3$s::pg_catalog.%2$s%3$s', substr(r, strpos(r, '_') + 1), result, r_array), l || l_array, r || r_array), '')
    FROM (VALUES ('same_int4', 'bare_int2', 'int4'), ('same_inet', 'bare_cidr', 'inet'),
                 -- of two strings the first says what both become, and a varchar does not become a char(n) by itself
                 ('same_bpchar', 'bare_varchar', 'bpchar')) AS pairs (encrypted, plain, result)
    CROSS JOIN (VALUES ('[]', '[]'), ('[]', ''), ('', '[]')) AS shapes (l_array, r_array)
    CROSS JOIN LATERAL (VALUES (encrypted, plain), (plain, encrypted)) AS s (l, r)
    WHERE l <> 'bare_varchar');
END
$$;
