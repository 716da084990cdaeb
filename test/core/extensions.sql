-- A few statements of extensions from packages, for test/core/extensions: a section for each, named before it.
-- [postgis]
SELECT ST_AsText(ST_Buffer('POINT(0 0)'::geometry, 1, 1)), 'POINT(1 1)'::geometry && 'POLYGON((0 0,0 2,2 2,2 0,0 0))'::geometry;
SELECT 'POINT(0 0)'::geometry = 'POINT(0 0)', 'POINT(0 0)'::geometry < 'POINT(1 0)', 'POINT(0 0)'::geometry <-> 'POINT(3 4)';
SELECT ST_Distance('POINT(0 0)'::geography, 'POINT(1 0)'::geography) > 100000, ST_Length('LINESTRING(0 0,3 4)'), ST_X('POINT(7 8)');
CREATE TABLE place (id int, g geometry);
CREATE INDEX ON place USING gist (g);
INSERT INTO place SELECT n, ST_MakePoint(n, n) FROM generate_series(1, 100) n;
SELECT id FROM place ORDER BY g <-> ST_MakePoint(50.2, 50.2) LIMIT 2;
SELECT count(*), ST_AsText(ST_Extent(g)) FROM place WHERE g && ST_MakeEnvelope(10, 10, 20, 20);
-- [vector]
SELECT '[1,2,3]'::vector <-> '[1,2,4]', '[1,2,3]'::vector <=> '[1,2,4]', '[1,2]'::vector = '[1,2]', '[1,2]'::vector + '[1,1]';
SELECT avg(v), sum(v) FROM (VALUES ('[1,2]'::vector), ('[3,4]')) t (v);
-- [hypopg]
CREATE TABLE hypothetical AS SELECT n AS a FROM generate_series(1, 1000) n;
SELECT count(*) FROM hypopg_create_index('CREATE INDEX ON hypothetical (a)');
EXPLAIN (COSTS off) SELECT * FROM hypothetical WHERE a < 0;
SELECT count(*) FROM hypopg_list_indexes;
-- [pgaudit]
SET pgaudit.log = 'all';
CREATE TABLE audited (a int);
INSERT INTO audited VALUES (1) RETURNING a;
DROP TABLE audited;
-- [pg_repack]
SELECT repack.version() IS NOT NULL;
CREATE TABLE packed (a int PRIMARY KEY, b text);
SELECT repack.get_order_by('packed_pkey'::regclass, 'packed'::regclass), repack.get_columns_for_create_as('packed'::regclass) IS NOT NULL;
-- [orafce]
SELECT oracle.add_months(oracle.date '2024-01-31 10:00:00', 1), oracle.last_day('2024-02-01'::oracle.date), oracle.next_day(date '2024-01-01', 'friday');
SELECT oracle.nvl(NULL::int, 7), oracle.nvl2('a'::text, 1, 2), oracle.decode(1, 1, 'one'::text, 'other'), oracle.substr('hello', 2, 3), oracle.round(1.55, 1);
SELECT oracle.to_char(12.5), oracle.to_number('12.5'), oracle.instr('hello', 'l', 1, 2), oracle.lpad('x', 3, '*');
SELECT 'a'::oracle.varchar2(10) || 'b'::oracle.nvarchar2(10), 'a'::oracle.varchar2(10) = 'a';
SET search_path = oracle, public, ext, pg_catalog;
SELECT add_months(date '2024-01-31', 1), nvl('a'::text, 'b'), substr('hello', 2), trunc(1.55, 1), to_char(1), to_date('2024-01-01', 'YYYY-MM-DD');
SELECT sysdate() IS NOT NULL, oracle.date '2024-01-01' + 1, oracle.date '2024-01-03' - oracle.date '2024-01-01', round(2.5), mod(7, 3), abs(-1);
RESET search_path;
-- [ip4r]
SELECT ip4 '10.0.0.1' + 5, ip4r '10.0.0.0/8' >>= ip4 '10.1.1.1', iprange '10.0.0.0/8' = '10.0.0.0/8', ipaddress '::1' < '::2', ip4 '1.2.3.4'::bigint;
SELECT '10.0.0.1'::ip4::text, ip4r '10.0.0.0/24' && '10.0.0.128/25', @ ip4r '10.0.0.0/24', family(ip4 '1.1.1.1');
-- [pg_partman]
CREATE TABLE parted (id int NOT NULL, at timestamptz NOT NULL) PARTITION BY RANGE (at);
SELECT extnamespace::regnamespace AS partman FROM pg_extension WHERE extname = 'pg_partman' \gset
SELECT :partman.create_parent('public.parted', 'at', 'native', 'daily', p_start_partition := '2024-01-01');
SELECT count(*) > 3 FROM pg_inherits WHERE inhparent = 'parted'::regclass;
-- [debversion]
SELECT debversion '1.0~rc1' < '1.0', debversion '2:1.0' > debversion '9.0', debversion '1.0' = '1.0', min(v), max(v) FROM (VALUES (debversion '1.10'), ('1.9')) t (v);
SELECT '1.0'::text::debversion, debversion '1.0'::text || 'x', debversion '1.0' LIKE '1%', v FROM (VALUES (debversion '1.10'), ('1.9')) t (v) ORDER BY v;
-- [semver]
SELECT semver '1.2.3' < '1.10.0', semver '1.0.0-rc1' < '1.0.0', min(v), max(v), count(DISTINCT v) FROM (VALUES (semver '1.2.3'), ('1.10.0')) t (v);
SELECT semver(1.2), to_semver('1.2'), semver '1.2.3' = '1.2.3', semver '1.2.3'::text || '', semver(1), semver(1.5::float8);
-- [unit]
SELECT '800 m'::unit + '500 m', '1 km'::unit * 2, '10 m'::unit / '2 s'::unit, '1 km'::unit = '1000 m', '1 m'::unit < '1 km', sum(u), avg(u) FROM (VALUES ('1 m'::unit), ('3 m')) t (u);
SELECT 2 * '1 m'::unit, |/ '4 m^2'::unit, sqrt('4 m^2'::unit), '9.81 m/s^2'::unit @ 'ft/s^2';
-- [hll]
SELECT hll_cardinality(hll_add_agg(hll_hash_integer(n % 7))) FROM generate_series(1, 100) n;
SELECT # (hll_empty() || hll_hash_text('a') || hll_hash_text('b')), hll_empty() = hll_empty();
-- [rum]
CREATE TABLE texts (v tsvector);
CREATE INDEX ON texts USING rum (v rum_tsvector_ops);
INSERT INTO texts VALUES (to_tsvector('english', 'the quick brown fox')), (to_tsvector('english', 'a lazy dog'));
SELECT v <=> to_tsquery('english', 'quick') < 100, v FROM texts WHERE v @@ to_tsquery('english', 'quick') ORDER BY v <=> to_tsquery('english', 'quick');
-- [pgmp]
SELECT mpz '12345678901234567890' * 2, mpq '1/3' + 1, mpz '10' / 3, mpz '2' ^ 10, mpz '7' % 3, mpz '1' = 1, mpq '1/2' < 1, sum(z), max(z) FROM (VALUES (mpz '1'), ('2')) t (z);
SELECT abs(mpz '-3'), sqrt(mpz '16'), gcd(mpz '12', 18), mpz '3' > 2.5, pow(mpz '2', 3), mpz(5), mpq(0.5);
-- [q3c]
SELECT q3c_dist(0, 0, 0, 1), q3c_radial_query(0, 0, 0.1, 0.1, 1), q3c_ang2ipix(10, 10);
-- [prefix]
SELECT prefix_range '123' @> '12345', prefix_range '123' = '123', prefix_range '12' < '13', '123'::prefix_range | '125', length(prefix_range '12');
-- [pg_sphere]
SELECT spoint(0, 0) <-> spoint(0, 1), scircle '<(0d, 0d), 1d>' ~ spoint '(0d, 0.5d)', area(scircle '<(0d, 0d), 1d>') > 0, spoint '(0d,0d)' = '(0d,0d)';
-- [pgsphere]
SELECT spoint(0, 0) <-> spoint(0, 1), scircle '<(0d, 0d), 1d>' ~ spoint '(0d, 0.5d)';
-- [pg_rational]
SELECT rational '1/3' + '1/6', '1/2'::rational = 0.5::float8::rational, 3::rational, 1::int + rational '1/2', min(r), sum(r) FROM (VALUES (rational '1/2'), ('1/3')) t (r);
-- [asn1oid]
SELECT asn1oid '1.2.10' > '1.2.9', asn1oid '1.2' = '1.2', asn1oid '1.2.3'::text;
-- [numeral]
SELECT 'four'::numeral + 'five'::numeral, 'iv'::roman, 'two'::numeral * 3, 'one'::numeral < 'two', 'five'::numeral = 5;
-- [periods]
CREATE TABLE term (id int, s date, e date);
SELECT periods.add_period('term', 'p', 's', 'e'), periods.add_unique_key('term', '{id}', 'p');
INSERT INTO term VALUES (1, '2024-01-01', '2024-02-01'), (1, '2024-02-01', '2024-03-01');
INSERT INTO term VALUES (1, '2024-01-15', '2024-01-20');
SELECT periods.add_system_time_period('term');
-- [tdigest]
SELECT tdigest_percentile(n, 100, 0.5) BETWEEN 49 AND 52 FROM generate_series(1, 100) n;
-- [jsquery]
SELECT '{"a": 5}'::jsonb @@ 'a > 3'::jsquery, 'a = 1'::jsquery = 'a = 1'::jsquery, 'a = 1'::jsquery & 'b = 2'::jsquery;
-- [pg_similarity]
SELECT lev('word', 'ward'), 'word' ~== 'ward', cosine('a b', 'a c'), 'a' ~## 'b', jaccard('a b', 'a c');
-- [first_last_agg]
SELECT first(n ORDER BY n), last(n ORDER BY n), first(n::text ORDER BY n) FROM generate_series(1, 3) n;
-- [extra_window_functions]
SELECT n, lag_ignore_nulls(n) OVER (ORDER BY n), flip_flop(n = 2) OVER (ORDER BY n) FROM generate_series(1, 3) n;
-- [icu_ext]
SELECT icu_compare('a', 'B'), icu_sort_key('a', 'en') IS NOT NULL;
-- [plpgsql_check]
CREATE FUNCTION checked(a int) RETURNS numeric LANGUAGE plpgsql AS 'BEGIN RETURN a + 1.5 || ''x''; END';
SELECT * FROM plpgsql_check_function('checked(int)');
-- [pointcloud]
SELECT count(*) FROM pointcloud_formats;
-- [table_log]
SELECT count(*) > 0 FROM pg_proc WHERE proname = 'table_log_init';
-- [citext]
SELECT 'A'::citext = 'a', 'A'::citext = 'a'::text, 'A'::citext < 'b', 'ABC'::citext LIKE 'ab%', 'Abc'::citext ~ 'abc', replace('Abc'::citext, 'ABC', 'x'), max(c) FROM (VALUES ('a'::citext), ('B')) t (c);
SELECT strpos('Abc'::citext, 'B'), split_part('aXb'::citext, 'x', 2), 'a'::citext || 'B', 'a'::citext IN ('A', 'b'), regexp_match('Abc'::citext, 'B');
-- [hstore]
SELECT 'a=>1'::hstore || 'b=>2', 'a=>1'::hstore -> 'a', 'a=>1'::hstore - 'a'::text, 'a=>1'::hstore = 'a=>1', hstore('a', 'b'), 'a=>1'::hstore::jsonb;
