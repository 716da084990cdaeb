-- All objects of the extension in this database with their properties, sorted, one on a line: what test/manifest/objects-N.txt holds for
-- PostgreSQL N, and what an update must leave as a new installation does.  'make manifest' writes that file.
--
-- Functions in SQL and views have a hash of their text: the text stands in src/sql/.
SET search_path = pg_catalog, pg_temp;
SET extra_float_digits = 0;

CREATE TEMP VIEW manifest_members AS
  SELECT d.classid, d.objid, x.extowner AS owner FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND x.extname = 'tde_column';

-- privileges other than the default ones of this sort of object, and an owner other than the extension's
CREATE FUNCTION pg_temp.manifest_acl(acl aclitem[], sort "char", owner oid, of_extension oid) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(' acl ' || (SELECT string_agg(replace(a::text, pg_get_userbyid(of_extension), 'owner'), ',' ORDER BY a::text COLLATE "C")
                              FROM unnest(acl) a WHERE NOT (acl @> acldefault(sort, owner) AND acl <@ acldefault(sort, owner))), '')
         || CASE WHEN owner <> of_extension THEN ' OWNER ' || pg_get_userbyid(owner) ELSE '' END
$$;

CREATE TEMP VIEW manifest AS
  SELECT m.classid, m.objid, 0 AS objsubid,
         format('%s %s%s%s%s%s cost %s%s%s%s%s', format_type(p.prorettype, NULL), p.prokind, p.provolatile, p.proparallel,
                CASE WHEN p.proisstrict THEN ' strict' END, CASE WHEN p.proretset THEN ' set of ' || p.prorows END, p.procost,
                concat(CASE WHEN p.prosecdef THEN ' definer' END, CASE WHEN p.proleakproof THEN ' leakproof' END),
                ' support ' || nullif(p.prosupport, 0)::regproc::text,
                ' ' || p.proconfig::text,
                ' ' || CASE l.lanname WHEN 'c' THEN p.prosrc ELSE l.lanname || ' ' || md5(p.prosrc || coalesce(pg_get_function_sqlbody(p.oid), '')) END)
         || coalesce((SELECT format(' sfunc %s final %s combine %s state %s initial %s sort %s', aggtransfn, aggfinalfn, aggcombinefn,
                                    aggtranstype::regtype, agginitval, aggsortop::regoperator) FROM pg_aggregate WHERE aggfnoid = p.oid), '')
         || coalesce(' (' || nullif(pg_get_function_arguments(p.oid), oidvectortypes(p.proargtypes)) || ')', '') || pg_temp.manifest_acl(p.proacl, 'f', p.proowner, m.owner) AS properties
  FROM manifest_members m JOIN pg_proc p ON m.classid = 'pg_proc'::regclass AND p.oid = m.objid JOIN pg_language l ON l.oid = p.prolang
  UNION ALL
  SELECT m.classid, m.objid, 0, format('%s %s commutator %s negator %s restrict %s join %s%s%s', o.oprresult::regtype, o.oprcode::regprocedure,
                o.oprcom::regoperator, o.oprnegate::regoperator, o.oprrest, o.oprjoin, CASE WHEN o.oprcanmerge THEN ' merges' END,
                CASE WHEN o.oprcanhash THEN ' hashes' END) || pg_temp.manifest_acl(NULL, 'f', o.oprowner, m.owner)
  FROM manifest_members m JOIN pg_operator o ON m.classid = 'pg_operator'::regclass AND o.oid = m.objid
  UNION ALL
  SELECT m.classid, m.objid, 0, format('%s %s %s', c.castcontext, c.castmethod, c.castfunc::regprocedure)
  FROM manifest_members m JOIN pg_cast c ON m.classid = 'pg_cast'::regclass AND c.oid = m.objid
  UNION ALL
  SELECT m.classid, m.objid, 0, format('%s length %s align %s storage %s category %s collation %s delimiter %s element %s array %s in %s out %s recv %s send %s modin %s modout %s analyze %s subscript %s',
                t.typtype, t.typlen, t.typalign, t.typstorage, t.typcategory, t.typcollation::regcollation, t.typdelim, t.typelem::regtype, t.typarray::regtype,
                t.typinput, t.typoutput, t.typreceive, t.typsend, t.typmodin, t.typmodout, t.typanalyze, t.typsubscript)
         || pg_temp.manifest_acl(t.typacl, 'T', t.typowner, m.owner)
  FROM manifest_members m JOIN pg_type t ON m.classid = 'pg_type'::regclass AND t.oid = m.objid
  UNION ALL
  SELECT m.classid, m.objid, 0, pg_temp.manifest_acl(NULL, 'f', f.opfowner, m.owner)
  FROM manifest_members m JOIN pg_opfamily f ON m.classid = 'pg_opfamily'::regclass AND f.oid = m.objid
  UNION ALL
  SELECT m.classid, m.objid, 0, format('of %s family %s%s key %s', c.opcintype::regtype, f.opfname, CASE WHEN c.opcdefault THEN ' default' END, c.opckeytype::regtype)
         || pg_temp.manifest_acl(NULL, 'f', c.opcowner, m.owner)
  FROM manifest_members m JOIN pg_opclass c ON m.classid = 'pg_opclass'::regclass AND c.oid = m.objid JOIN pg_opfamily f ON f.oid = c.opcfamily
  UNION ALL
  SELECT a.tableoid, a.oid, 0, ''
  FROM manifest_members m JOIN pg_amop a ON m.classid = 'pg_opfamily'::regclass AND a.amopfamily = m.objid
  UNION ALL
  SELECT a.tableoid, a.oid, 0, ''
  FROM manifest_members m JOIN pg_amproc a ON m.classid = 'pg_opfamily'::regclass AND a.amprocfamily = m.objid
  UNION ALL
  SELECT m.classid, m.objid, 0, format('%s %s %s%s', c.relkind, c.relpersistence, c.reloptions::text,
                CASE c.relkind WHEN 'v' THEN ' ' || md5(pg_get_viewdef(c.oid)) END) || pg_temp.manifest_acl(c.relacl, 'r', c.relowner, m.owner)
  FROM manifest_members m JOIN pg_class c ON m.classid = 'pg_class'::regclass AND c.oid = m.objid
  UNION ALL
  SELECT m.classid, m.objid, a.attnum, format('%s%s%s%s', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' not null' END,
                ' default ' || (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = a.attrelid AND adnum = a.attnum), ' acl ' || a.attacl::text)
  FROM manifest_members m JOIN pg_attribute a ON m.classid = 'pg_class'::regclass AND a.attrelid = m.objid AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT c.tableoid, c.oid, 0, pg_get_constraintdef(c.oid)
  FROM manifest_members m JOIN pg_constraint c ON m.classid = 'pg_class'::regclass AND c.conrelid = m.objid
  UNION ALL
  SELECT 'pg_class'::regclass, i.indexrelid, 0, pg_get_indexdef(i.indexrelid)
  FROM manifest_members m JOIN pg_index i ON m.classid = 'pg_class'::regclass AND i.indrelid = m.objid
  UNION ALL
  SELECT t.tableoid, t.oid, 0, format('%s %s', t.tgenabled, pg_get_triggerdef(t.oid))
  FROM manifest_members m JOIN pg_trigger t ON m.classid = 'pg_class'::regclass AND t.tgrelid = m.objid AND NOT t.tgisinternal
  UNION ALL
  SELECT m.classid, m.objid, 0, format('%s %s %s %s', e.evtevent, e.evtfoid::regproc, e.evtenabled, e.evttags::text) || pg_temp.manifest_acl(NULL, 'f', e.evtowner, m.owner)
  FROM manifest_members m JOIN pg_event_trigger e ON m.classid = 'pg_event_trigger'::regclass AND e.oid = m.objid
  UNION ALL
  SELECT m.classid, m.objid, 0, pg_temp.manifest_acl(n.nspacl, 'n', n.nspowner, m.owner)
  FROM manifest_members m JOIN pg_namespace n ON m.classid = 'pg_namespace'::regclass AND n.oid = m.objid
  UNION ALL
  SELECT 'pg_extension'::regclass, x.oid, 0, 'dumps ' || coalesce((SELECT string_agg(c::regclass::text, ',' ORDER BY c::regclass::text) FROM unnest(x.extconfig) c), '')
  FROM pg_extension x WHERE x.extname = 'tde_column'
  UNION ALL
  -- any other sort is there, at least
  SELECT m.classid, m.objid, 0, ''
  FROM manifest_members m WHERE m.classid <> ALL ('{pg_proc,pg_operator,pg_cast,pg_type,pg_opfamily,pg_opclass,pg_class,pg_event_trigger,pg_namespace}'::regclass[]);

\pset format unaligned
\pset tuples_only on
SELECT line FROM (
  SELECT regexp_replace(pg_describe_object(classid, objid, objsubid) || coalesce(': ' || nullif(properties, ''), '')
                        || coalesce(' -- ' || CASE objsubid WHEN 0 THEN obj_description(objid, classid::regclass::name) ELSE col_description(objid, objsubid) END, ''),
                        '\s+', ' ', 'g') AS line
  FROM manifest) AS lines
ORDER BY line COLLATE "C";
