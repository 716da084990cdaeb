--
-- Operand types: plain numbers as they stand beside an encrypted one.
--
-- COALESCE, CASE, IN and UNION of an encrypted numeric and an integer want an IMPLICIT cast of integers to encrypted_numeric.  With
-- that, + (encrypted_numeric, numeric) would suit 1 + 1.5 as well as PostgreSQL's own operator does, and "operator is not unique"
-- would be the answer to plain SQL.  + (encrypted_numeric, plain_numeric) does not: the parser prefers what names the operands' exact
-- types, and only among equals what names a preferred type.
--

SELECT tde_internal.tde_run(string_agg(
  format(E'CREATE TYPE %s;\n', o.name) || (
    SELECT string_agg(format(E'CREATE FUNCTION %1$s_%2$s(%3$s) RETURNS %4$s AS %5$L LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;\n'
                             'COMMENT ON FUNCTION %1$s_%2$s(%3$s) IS ''I/O'';\n', o.name, suffix,
                             CASE WHEN result IS NULL THEN oidvectortypes(proargtypes) ELSE o.name END, coalesce(result, o.name), prosrc), '')
    FROM (VALUES (typinput, 'in', NULL), (typoutput, 'out', 'cstring'), (typreceive, 'recv', NULL), (typsend, 'send', 'bytea'))
      AS io (function, suffix, result)
    JOIN pg_proc p ON p.oid = function)
  || format(E'CREATE TYPE %1$s (INPUT = %1$s_in, OUTPUT = %1$s_out, RECEIVE = %1$s_recv, SEND = %1$s_send, LIKE = %2$s, '
            'CATEGORY = ''N'', PREFERRED = %4$s);\n'
            'COMMENT ON TYPE %1$s IS ''%3$s beside an encrypted number: for operators, not for columns'';\n'
            'CREATE CAST (%2$s AS %1$s) WITHOUT FUNCTION AS IMPLICIT;\nCREATE CAST (%1$s AS %2$s) WITHOUT FUNCTION AS IMPLICIT;\n',
            o.name, b.typname, comment, preferred::text)
  || coalesce((
    SELECT string_agg(format(E'CREATE FUNCTION %1$s(%2$s) RETURNS %1$s AS %3$L LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;\n'
                             'COMMENT ON FUNCTION %1$s(%2$s) IS ''convert %2$s to %4$s'';\n'
                             'CREATE CAST (%2$s AS %1$s) WITH FUNCTION %1$s(%2$s) AS IMPLICIT;\n',
                             o.name, castsource::regtype, prosrc, b.typname), '')
    FROM pg_cast JOIN pg_proc p ON p.oid = castfunc
    WHERE castsource = ANY (sources) AND casttarget = b.oid), ''), ''))
FROM (VALUES ('tde_internal.plain_int8',     'int8'::regtype, '{int2,int4}'::regtype[],             true,  'an integer'),
             ('tde_internal.plain_decimal',  'numeric',       '{}',                                 true,  'a numeric'),
             ('tde_internal.plain_numeric',  'numeric',       '{int2,int4,int8}',                   true,  'a numeric or an integer'),
             -- percentile_cont(0.5) WITHIN GROUP (ORDER BY $1) goes on meaning PostgreSQL's, whose float8 is preferred
             ('tde_internal.plain_fraction', 'float8',        '{int2,int4,int8,numeric,float4}',    false, 'a number'))
  AS o (name, base, sources, preferred, comment)
JOIN pg_type b ON b.oid = base;

-- Bytes beside encrypted ones, as the delimiter of string_agg(): what stands in quotes there is taken for an encrypted value, and beside that this
-- one is no choice.
-- new in 0.2.0
DO $bytes$
BEGIN
  CREATE TYPE tde_internal.plain_bytea;
  CREATE FUNCTION tde_internal.plain_bytea_in(cstring) RETURNS tde_internal.plain_bytea AS 'byteain' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
  COMMENT ON FUNCTION tde_internal.plain_bytea_in(cstring) IS 'I/O';
  CREATE FUNCTION tde_internal.plain_bytea_out(tde_internal.plain_bytea) RETURNS cstring AS 'byteaout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
  COMMENT ON FUNCTION tde_internal.plain_bytea_out(tde_internal.plain_bytea) IS 'I/O';
  CREATE TYPE tde_internal.plain_bytea (INPUT = tde_internal.plain_bytea_in, OUTPUT = tde_internal.plain_bytea_out, LIKE = bytea, PREFERRED = true);
  COMMENT ON TYPE tde_internal.plain_bytea IS 'bytes beside encrypted ones: for functions, not for columns';
  CREATE CAST (bytea AS tde_internal.plain_bytea) WITHOUT FUNCTION AS IMPLICIT;
  CREATE CAST (tde_internal.plain_bytea AS bytea) WITHOUT FUNCTION AS IMPLICIT;
END
$bytes$;

CREATE FUNCTION tde_internal.tde_takes_numbers(encrypted regtype) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- not the small integers, of which operators with plain numbers of all types can be kept apart no other way
RETURN encrypted = ANY ('{int8,numeric,float4,float8}'::regtype[]);
COMMENT ON FUNCTION tde_internal.tde_takes_numbers(regtype) IS
  'tell whether plain numbers of smaller types become the encrypted version of this base type implicitly';

CREATE FUNCTION tde_internal.tde_beside(encrypted regtype, plain regtype, symbol text) RETURNS regtype
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN NOT tde_internal.tde_takes_numbers(encrypted) THEN plain
  -- float8 is preferred, and takes integers and numeric, encrypted ones, too
  WHEN 'float4'::regtype IN (encrypted, plain) OR 'float8'::regtype IN (encrypted, plain)
    THEN CASE WHEN encrypted = ANY ('{float4,float8}'::regtype[]) AND plain = ANY ('{float4,float8}'::regtype[]) THEN plain END
  WHEN encrypted = 'numeric'::regtype THEN CASE WHEN plain = 'numeric'::regtype THEN 'tde_internal.plain_numeric'::regtype END
  WHEN plain = 'numeric'::regtype THEN 'tde_internal.plain_decimal'::regtype
  -- PostgreSQL has all operators of two integers for all sizes, but not %
  WHEN symbol <> '%' THEN plain
  WHEN plain = 'int8'::regtype THEN 'tde_internal.plain_int8'::regtype
END;
COMMENT ON FUNCTION tde_internal.tde_beside(regtype, regtype, text) IS
  'the type of a plain operand beside an encrypted one, which its base type names; NULL: an operator with another type serves it';

REVOKE ALL ON FUNCTION tde_internal.tde_takes_numbers(regtype), tde_internal.tde_beside(regtype, regtype, text) FROM PUBLIC;
