-- tde_open_envelope(): values that libraries have encrypted, and what is said of those that cannot be opened.
--
-- The values were made by these libraries, with random keys: cryptography 48.0 (Fernet(key).encrypt), SQLAlchemy-Utils' engines (engine.encrypt, after
-- _update_key and _set_padding_mechanism; the key here is SHA-256 of theirs), Active Record 7.1.5 (ActiveRecord::Encryption::Encryptor.new.encrypt;
-- the key here is key_provider.encryption_key.secret), illuminate/encryption 8.83 (encryptString).  Those with escaped slashes by PHP's openssl_encrypt,
-- hash_hmac and json_encode without JSON_UNESCAPED_SLASHES, as early versions of Laravel.  What is compressed and names no library:
-- by zlib, and by AES-GCM of cryptography, in Active Record's format.  Formats: https://github.com/fernet/spec,
-- https://guides.rubyonrails.org/active_record_encryption.html, https://laravel.com/docs/encryption,
-- https://sqlalchemy-utils.readthedocs.io/en/latest/data_types.html
BEGIN;
\ir include/outcome.sql
SELECT * FROM no_plan();

-- what is long in clear: its MD5
CREATE TEMP TABLE vector (format text, what text, key text, value text, clear text);
INSERT INTO vector VALUES
  ('fernet', 'cryptography 48.0.0: 19 characters', 'd27569aff28b01244be985ff2a67373c74472791ea1bac9149e4c0144e04aea0', 'gAAAAABrC-vvJyvvuowQPumS5HpIh0xNZyFg9zublztlkNZgxdCzH_ydFJ3a78sisVeif-sO-Pj1z0fvY12ARO_sE4Z_iPjiJFk-keHqFUonoi72kdriauA=', '4111 1111 1111 1111'),
  ('fernet', 'cryptography 48.0.0: 0 characters', 'd27569aff28b01244be985ff2a67373c74472791ea1bac9149e4c0144e04aea0', 'gAAAAABrC-vvcw4a3wVgJPR9ivMwSKniPBfn2B1lepdL_wOfhqXf98FPKyvel0q7qvFPqZtdncRCc914Weas7tOJ8DLeZg9nBQ==', ''),
  ('fernet', 'cryptography 48.0.0: 10 characters', 'd27569aff28b01244be985ff2a67373c74472791ea1bac9149e4c0144e04aea0', 'gAAAAABrC-vvfQTMYMciDMc7yr7eMzIvZv57u0Ug7rOX0amVtKrOKE_zIJ17ILcN5k6kUf_kO1PuOXXzQgpswETW56fa0sUpAg==', 'Zürich, 北京'),
  ('fernet', 'cryptography 48.0.0: 16 characters', 'd27569aff28b01244be985ff2a67373c74472791ea1bac9149e4c0144e04aea0', 'gAAAAABrC-vvWiseHoJZ-QOM0SpcWWRwiVdvodRc3UNOoKmiRAf35uSJYGAotE1OyGylsk30Q_1Oi2NcSgCZFNGnth7e_pl4UEPZRHQe3azslFvZD7tKUtg=', 'xxxxxxxxxxxxxxxx'),
  ('rails', 'Active Record 7.1.5, compressed, with a code of its own', '257d96cbe949c294902bd00963bba91933029b70e64a5d44fabb54c2273771c2', '{"p":"QmS7o5QYCb9nmhB+JJQvPm8WfwcKTb3fC+iLtgtkNICSIR0UcFLhHKon0J3nt9xNuAHljs18tDYm5vmkPNPcBpscKjfeIXrxAvk8700KpWooVN0nhAEOabvKcUV8EBt0McrHKwf7Cu6+/LtnNrWsb/sbhTAMqPODptOMqR3DXmTeMCcL1XJWyVmsjZ9p74hO2EVcY5eEp7F7YctDYXNTfoqXnD05HxFbZdgLPj/i9x2aSDre2CbqPf9Mw6JUlsWdONhriTss80F4kIPriNbg1a01DzAqKQldci8Srfy67g2url0VCMxzGyc582EyElIP5Y35qjocEN5Y/rd7vggOHosXnClylDGXSrM2iZn19ZFc3lz3kDeatmA1WrUGPBScSdFqQni7y8E8KbvKhm913PtnDHqWT5CYVafhVP7mQeevtmNWADSpQCzEmzO13Md3kgFnWYQdjEoiWvFgTbfKTazqru9Ojqw+7sqq9ypPYtI7R9Zl/K6SeFvuCBdlcG3x0EZNiRxkq9W7mQZ/FRvwhGUC8K5RZaQ+sejHQhLVrXQy94irc9RVSTLfQZ6jbbQ81F5vOmosR48YFedE+KpCCbjX91g+Z+nGoySkN6OnN3/K53JJokWytFRnDshaht94dUzJ+NlmH8hnW8RUh3sfOPnDlpm2L1p1EQaB2l1J0zgjeqnaqTfKtb8WpmREdMZfTclQMKJJHwLHEO6CC9E=","h":{"iv":"42aKUVgkkxTPKRAO","at":"5IiuiEfKI8mhmzdtF9dz7w==","c":true}}', 'md5:e8867a1cafa977a145b52fc3ae60deed'),
  ('rails', 'Active Record 7.1.5, short', '257d96cbe949c294902bd00963bba91933029b70e64a5d44fabb54c2273771c2', '{"p":"n11aoAKh93Zgl0g/WFWyutNNqg==","h":{"iv":"s2j69XJt1cGDQPy+","at":"wr2UtUTnK5oLyWLA0sIKCg=="}}', '4111 1111 1111 1111'),
  ('rails', 'Active Record 7.1.5, empty', '257d96cbe949c294902bd00963bba91933029b70e64a5d44fabb54c2273771c2', '{"p":"","h":{"iv":"gW4xxMXRbUDknavd","at":"Icp9PhQwtt5Fjwi6DU6ywA=="}}', ''),
  ('rails', 'Active Record 7.1.5, compressed', '257d96cbe949c294902bd00963bba91933029b70e64a5d44fabb54c2273771c2', '{"p":"7si2RP562oV5ZVFNELL15F9qWyp/","h":{"iv":"LULBbnD6yNUaePsl","at":"tc2l4ouNCyGRC8jhkWpbEw==","c":true}}', 'md5:b9d18c8c3ca3e928253232d2f2f4cf57'),
  ('rails', 'Active Record 7.1.5, compressed, little to gain', '257d96cbe949c294902bd00963bba91933029b70e64a5d44fabb54c2273771c2', '{"p":"cnMhIfsTOq1hczuirLdCgejUMs3vmfwkT5cT2j39oAcHSbZ+VvqUnEvkXJH81S0pfHHZJpTOry4=","h":{"iv":"90fdgv47CNX2h+D5","at":"qK19X0t07YjgDu6KoUvzBw==","e":"VVMtQVNDSUk=","c":true}}', 'md5:e77320473a47d56a5f871e22536c2678'),
  ('rails', 'compressed, 100000 characters', '609cac5a90a1d8db5eb63efc60bb40eeca7d48bfd1f02dd64d0ff8b46ec7cf82', '{"p":"KXK6c7NkKN2lQaM0Z/tHg9nCdd8AP9vAy3l6zik8xrmpN49Io1xtdTCGIlvM2BKKWcbw3dI6OU2u6UtAIyfbhrd401TKUqOSIb0BcQ1gx9R58ElTP5+CoC1rtFScyBC4X2Qt/GiBjlFjXAWfT864/7A1tjsURz8M3o4pkcoMEuiluFazTiXTMkesFZX+DWVULrXNR+hesCzg44aGvMEJb2gWK5+JHMEQ8o2O5Jf7LQp9tMzAx6FmLeoOYR40isW8H4MPuEKQc58IQsrO7jWz9tFaGMyfHkeKAlVYA47pl4+HKsg0igLmtCRhI3PhFcJArxxzVfa9OOxlDbBCZnVTu+gyzkzK7mK/h0kX71q/psz55ytcLw==","h":{"iv":"qgnCOtby2gMBzijk","at":"6gsrBa6JmHdpIHxLRMFfiw==","c":true}}', 'md5:a5336d12f124c50341ce93a792fa0fd5'),
  ('rails', 'Active Record, deterministic', '21fc603bc6f7543cd232921e05eb38a730d0dec95bb39ac854eac5aa10f15a3c', '{"p":"Z1Bfmj4zTw==","h":{"iv":"vpsnZHg9KvgQxkZv","at":"NZH+y1GhV5Msi1ULa0Kqhg=="}}', 'Zürich'),
  ('laravel', 'illuminate/encryption 8.83, AES-256-CBC', 'eabf1fac35b3d2b5af8fdfea7696cd653a7f0cbebd7ac54bb607fa8a1ed8c72f', 'eyJpdiI6IjF3L2c0TlR0aTNrZzF6eUVIalNheHc9PSIsInZhbHVlIjoidTF4QmxKTG5TbVF3ZGNXNG1mWXZzMzF1SXRxSUdwcmltQjJ6czFPRk5OND0iLCJtYWMiOiI0ZmE3MDJmYTIwYTI0M2I5OTQyOWQ4ZDdmODVjZDFjMmE5ZTAyNjc1NzE1MTFhOWQzMDIwZTg5YTBlZDUzZTNjIiwidGFnIjoiIn0=', 'Straße 7, AES-256-CBC'),
  ('laravel', 'illuminate/encryption 8.83, AES-256-CBC', 'eabf1fac35b3d2b5af8fdfea7696cd653a7f0cbebd7ac54bb607fa8a1ed8c72f', 'eyJpdiI6InhLSHdBQi90WDVVRjlMUFVtOGt3aWc9PSIsInZhbHVlIjoicC9ub3lDZGx6Qm1IYStVaUpkOUNtZz09IiwibWFjIjoiYzIzYWY0YTZkMWM3MzEyMGEzZmQzOTA4YTczY2IxNDBiMjNmNTg3ZmY1NDQ0MTQ3OTcxMGQ4ZjE0NTVkZjRhYSIsInRhZyI6IiJ9', ''),
  ('laravel', 'illuminate/encryption 8.83, AES-128-CBC', 'f4c81f46e91be863efcb5f87cced41d9', 'eyJpdiI6Im5sbExGblZUa2RtMXkzenNkVEU1bHc9PSIsInZhbHVlIjoiRFZVRWE3NUpPVlJCdnRpdWJBYTFwdVhnanpzWk1YZnFlVHFkd011M2QyUT0iLCJtYWMiOiI1MzJmY2U2NzAyMzdmMmM3N2U4M2RjYzliNzAzNDA2M2MwM2NjMjZkZmY2ZjliYmViZGMwN2Q0MTEwMDY4MGJkIiwidGFnIjoiIn0=', 'Straße 7, AES-128-CBC'),
  ('laravel', 'illuminate/encryption 8.83, AES-128-CBC', 'f4c81f46e91be863efcb5f87cced41d9', 'eyJpdiI6InYvMjdUR01NSnNYV051WjhVeDZOc3c9PSIsInZhbHVlIjoiNEl4S3haM2huRHRiRldOVU14akEvUT09IiwibWFjIjoiMGM5Mjk5NmQ1NjljNjU2Y2RkMzFkOTZkZGU2ZTVhY2IyYzFlYzc5YjJkZGFjZDVkM2UzMTE1NzFhYmRkOWIwZSIsInRhZyI6IiJ9', ''),
  ('laravel', 'illuminate/encryption 8.83, AES-256-GCM', '6db9e08e0c86d7728238a106689ced990fdda7bb9e8c07d8138d191dde8fbacd', 'eyJpdiI6IllSWUYvVzlZRHhQanl4NmkiLCJ2YWx1ZSI6ImFKWUIxNGxaeWJQQ1IrNXZRM2ZCS0NQckJjZ1hMdz09IiwibWFjIjoiIiwidGFnIjoiZ3c5Ty95OVlkeVAxeExpdFRrdVBaZz09In0=', 'Straße 7, AES-256-GCM'),
  ('laravel', 'illuminate/encryption 8.83, AES-256-GCM', '6db9e08e0c86d7728238a106689ced990fdda7bb9e8c07d8138d191dde8fbacd', 'eyJpdiI6InlGNjBvVnNwY2g2R05DelUiLCJ2YWx1ZSI6IiIsIm1hYyI6IiIsInRhZyI6IldyTUR3YXRVYTZrMGZDZ1gwbnk0WGc9PSJ9', ''),
  ('laravel', 'illuminate/encryption 8.83, AES-128-GCM', '2e5d9d2829023e16330f2cf58b715ff7', 'eyJpdiI6IkpseG5qcUwvNEIwMldiZWoiLCJ2YWx1ZSI6IkJRTnVVdHk4V1hzamtrU1hLTkRBVjNXZ0hONzdlUT09IiwibWFjIjoiIiwidGFnIjoiWENNZTBoeko5dzJEcnd5Vmhxbi83dz09In0=', 'Straße 7, AES-128-GCM'),
  ('laravel', 'illuminate/encryption 8.83, AES-128-GCM', '2e5d9d2829023e16330f2cf58b715ff7', 'eyJpdiI6InNzNVBaMWRLZEs3aDlTc24iLCJ2YWx1ZSI6IiIsIm1hYyI6IiIsInRhZyI6ImhaN2tWZ2RuVjhLYWExZWdpUzFHZUE9PSJ9', ''),
  ('sqlalchemy', 'AesEngine, pkcs5, 19', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'I7nEs6mi62uHj7RUxSQlIvJpb3wYPpqeLBPXIKQMIzI=', '4111 1111 1111 1111'),
  ('sqlalchemy', 'AesEngine, pkcs5, 15', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', '9uw6pxASTa50HMr+yYJxUQ==', 'xxxxxxxxxxxxxxx'),
  ('sqlalchemy', 'AesEngine, pkcs5, 6', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'U9YrG2ueyIPECoHf576vxg==', 'Zürich'),
  ('sqlalchemy', 'AesEngine, pkcs5, 0', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'Uo4Jp22/19KSsyJ2IRwX5Q==', ''),
  ('sqlalchemy', 'AesEngine, oneandzeroes, 19', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'I7nEs6mi62uHj7RUxSQlIuDENxJ5ETtSCylfoFDI3XA=', '4111 1111 1111 1111'),
  ('sqlalchemy', 'AesEngine, oneandzeroes, 15', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'uj/KNEz3DsM6oPG+QPjB5w==', 'xxxxxxxxxxxxxxx'),
  ('sqlalchemy', 'AesEngine, oneandzeroes, 6', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', '/HLzOaC1CE4gZgVKNs/lBA==', 'Zürich'),
  ('sqlalchemy', 'AesEngine, zeroes, 19', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'I7nEs6mi62uHj7RUxSQlIhv4inJLELjEgM67BJ6yTE0=', '4111 1111 1111 1111'),
  ('sqlalchemy', 'AesEngine, zeroes, 15', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', '9uw6pxASTa50HMr+yYJxUQ==', 'xxxxxxxxxxxxxxx'),
  ('sqlalchemy', 'AesEngine, zeroes, 6', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'YsHXzBAu4SN+YDhvGDsaCw==', 'Zürich'),
  ('sqlalchemy', 'AesEngine, naive, 19', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'I7nEs6mi62uHj7RUxSQlIjViAX4OOi3oq4OuWsxIRoY=', '4111 1111 1111 1111'),
  ('sqlalchemy', 'AesEngine, naive, 15', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'cNPp7Nx9DtaFhBSjH0/IRg==', 'xxxxxxxxxxxxxxx'),
  ('sqlalchemy', 'AesEngine, naive, 6', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'uC0/FmZTLD9k94kT1YFzYg==', 'Zürich'),
  ('sqlalchemy-gcm', 'AesGcmEngine, 19', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'tCbCASn8UnaxN3MmuJI5jSykyVo5JjFzz0I6CFMwPg4JYswBLVikrORxgXXosu8=', '4111 1111 1111 1111'),
  ('sqlalchemy-gcm', 'AesGcmEngine, 0', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'pGthHs6vdbIK8UpXwdsn1v89UYXLXG94gem1Cw==', ''),
  ('sqlalchemy-gcm', 'AesGcmEngine, 6', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'PV8HRY4b8Zt9goowUVvVuwcRVD+gNSr3oGMro8gYNCl7seg=', 'Zürich'),
  ('fernet', 'FernetEngine', '593f4466c5ae594a3aa1329aa543697764d94315af8aac6ccd1cfe3600d59406', 'gAAAAABrC-vvoud6cHgO-ur8p9dZhCEDuITGSHwac2mtbaTHtW1k30ciEJyYXSIqIcH-Hj_KeH6w1TLzA7OLhZOtEJC2a19EJw==', 'of FernetEngine'),
  ('laravel', 'aes-256-cbc, slashes escaped', 'be4b37002bb08dae4131e0da453de0cb0e4b8ea4aa5c93e72ebe1d389a3b21ab', 'eyJpdiI6InpISm5pT3hPRVY0UHNOd2R5S2VUcHc9PSIsInZhbHVlIjoib2pLaHRzaTNzVmp5UjI1M1hHeWdDRVRcL2Jud1FuS1hTbTRSbDZhR1wvNFRBPSIsIm1hYyI6ImI0ZTZkYjRmODg0NDhiNmI5NDgxMGE2YzM5N2YxYWFkZDE2NmRhMzkxNWQ5ZTMyOTNmZDgyMDhlOGQ5ZDlkYjEiLCJ0YWciOiIifQ==', 'Straße 7, aes-256-cbc'),
  ('laravel', 'aes-128-cbc, slashes escaped', '94ce02275c3d40e0bcf7f7442ff1cdc2', 'eyJpdiI6ImsxNlQrY0E3U2RiMkM0NnNYOWRIeFE9PSIsInZhbHVlIjoic3FnenhkQTFsZFVlWWN2cG9pemVDTUJOSm5LRm1GSG51UFwvMG94b3dXaUU9IiwibWFjIjoiOGRmZjUxNGYyMGU4ODRmMmMwNjNiZTY3ZGEyOGEwMTc2YTQxODJkY2JkYzhkNDVhZjY5ZmM0YTdiODIxYWFkMCIsInRhZyI6IiJ9', 'Straße 7, aes-128-cbc'),
  ('laravel', 'aes-256-gcm, slashes escaped', '4462e4e74405039b52e87f7ed5aaf20ddf542ffb4d8e605adf648bbeb1d5a412', 'eyJpdiI6ImVIODlWR2FRb3F5cytcL1JZIiwidmFsdWUiOiJDeVZ0QzlqTmxPUEtVaUJwUWR0aGFKUStFSm4xZ2c9PSIsIm1hYyI6IiIsInRhZyI6Im9vWkNmd2krMEl2Ymc3OXlXeVVrREE9PSJ9', 'Straße 7, aes-256-gcm');

SELECT is(CASE WHEN starts_with(clear, 'md5:') THEN 'md5:' || md5(opened) ELSE opened END, clear, format('%s: %s', format, what))
FROM vector, tde_open_envelope(format, value, decode(key, 'hex')) AS opened;

--
-- Nothing else is opened: the value cut short at each place, each of its characters another one, another key.  What has no MAC is another text then, or none.
--
CREATE FUNCTION opened(format text, value text, key bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  RETURN 'opened: ' || tde_open_envelope(format, value, key);
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN concat_ws(' ', SQLSTATE, SQLERRM, nullif(detail, ''));
END
$$;
CREATE FUNCTION expected(v vector) RETURNS text LANGUAGE sql AS $$
  SELECT format('22023 value cannot be opened as %s It is damaged, of another format, no text, or encrypted under another key.', v.format)
$$;
CREATE TEMP TABLE damaged AS
  SELECT v AS v, format('cut to %s', n) AS damage, opened(format, left(value, n), decode(key, 'hex')) AS said FROM vector v, generate_series(0, length(value) - 1) n
  WHERE left(value, n) <> rtrim(value, '=')     -- base64 may lack its padding
  UNION ALL SELECT v, format('character %s is %s', n, c), opened(format, overlay(value PLACING c FROM n), decode(key, 'hex'))
  FROM vector v, generate_series(1, length(value)) n, regexp_split_to_table('Ab!"=7', '') c WHERE substr(value, n, 1) <> c AND n % 3 = ascii(c) % 3
  UNION ALL SELECT v, format('bit %s of the key', n), opened(format, value, set_bit(decode(key, 'hex'), n, 1 - get_bit(decode(key, 'hex'), n)))
  FROM vector v, generate_series(0, length(key) * 4 - 1, 5) n;
SELECT cmp_ok((SELECT count(*) FROM damaged), '>', 14000::bigint, 'many damages were tried');
SELECT is_empty(format('SELECT (v).what, damage, said FROM damaged WHERE (v).format = %L AND said <> expected(v)', name), name || ': none was opened')
FROM unnest('{fernet,sqlalchemy-gcm}'::text[]) name;
-- members that nobody asks for, and what stands behind the object, may be anything
SELECT is_empty(format('SELECT (v).what, damage, said FROM damaged WHERE (v).format = %L AND said <> expected(v)
    AND (v).clear NOT IN (substr(said, 9), %L || md5(substr(said, 9)))', name, 'md5:'), name || ': none was opened as something else')
FROM unnest('{laravel,rails}'::text[]) name;
SELECT is_empty($$SELECT (v).what, damage, said FROM damaged WHERE (v).format = 'sqlalchemy' AND said <> expected(v) AND NOT starts_with(said, 'opened: ')$$,
                'sqlalchemy: what cannot be opened says no more');
SELECT is_empty($$SELECT said FROM damaged WHERE NOT starts_with(said, 'opened: ') AND (said ~ (v).key OR (length((v).clear) > 3 AND strpos(said, (v).clear) > 0))$$,
                'no error has a key or a value');

--
-- What is no value, or no key
--
SELECT is(opened(format, value, 'k'), said, what) FROM (VALUES
  ('fernet', '4111 1111 1111 1111', '22023 a key of format "fernet" has 32 bytes, not 1', 'a key that is too short'),
  ('laravel', '', '22023 a key of format "laravel" has 32 or 16 bytes, not 1', '... where there are two lengths'),
  ('pgp', '', '22023 format "pgp" of encrypted values is unknown', 'another format')) AS wrong (format, value, said, what);
SELECT is(opened(format, value, sha256('k')), format('22023 value cannot be opened as %s It is damaged, of another format, no text, or encrypted under another key.', format),
          format('%s: %s', format, value))
FROM unnest('{fernet,rails,laravel,sqlalchemy,sqlalchemy-gcm}'::text[]) format, unnest(ARRAY['', '4111 1111 1111 1111', '{', '{"p":', '{"p":"","h":{"iv":"","at":""}}', '{"p":1}',
  '{"p":"AAAA","h":{"iv":"AAAAAAAAAAAAAAAA","at":"AAAA"}}', '[]', '"', '{"h":{"iv":[[[[{"iv":"', 'AAAA', '====', repeat('A', 1000)]) value
WHERE (format, value) NOT IN (VALUES ('sqlalchemy', repeat('A', 1000)));
-- encrypted as it should be, but not compressed so
SELECT is(opened('rails', value, decode('609cac5a90a1d8db5eb63efc60bb40eeca7d48bfd1f02dd64d0ff8b46ec7cf82', 'hex')), expected(('rails', NULL, NULL, NULL, NULL)::vector), 'compressed, ' || what)
FROM (VALUES
  ('nothing', '{"p":"","h":{"iv":"V+z0Sd65aa34T70U","at":"YED9+oEw44v/lDcJCDegUQ==","c":true}}'),
  ('cut in the middle', '{"p":"hbDaMwRFCm2G","h":{"iv":"9/MSYITlR0sFMa5A","at":"Vy0pe4RZJUtZu+1D2+tZ4A==","c":true}}'),
  ('without its checksum', '{"p":"HN9O8tV5kAmFqz0=","h":{"iv":"eTMSvr7gho8gV00G","at":"jZzDueag3QfZX8nXsFib+g==","c":true}}'),
  ('cut by a byte', '{"p":"XGiLo/eSBr1UkW+5cH8=","h":{"iv":"hIAx+rF/8OK5HQv/","at":"kypAoTytCCMDTpA/1SZqMw==","c":true}}'),
  ('another checksum', '{"p":"KkQ3W+st7zz56mPx4Xxt","h":{"iv":"gO/Shk2cQyRWR3B8","at":"2qFUxI6nNhB1CGgDRiVCWQ==","c":true}}'),
  ('a byte after its end', '{"p":"OWzS5joSTI9sDNvPZs8V+w==","h":{"iv":"LyaGE+9nPxQgMfR0","at":"i91WTgpAlFnb8kNHIFzY3g==","c":true}}'),
  ('a second stream after its end', '{"p":"dDj2QihKrvNTjdIrRH2Sx3e/uVoLythd/IfPeBVi","h":{"iv":"0ZZpbPtxRXXiHdG3","at":"Sf39Tj1AwkT+arCZEJNxqw==","c":true}}'),
  ('of gzip', '{"p":"582vMZUi1frO7H2nOZIaaXFcjw07l56Eusmc","h":{"iv":"W4jdkZr27S7hEaaT","at":"Bij5v0CqovdJjza42/aDSQ==","c":true}}'),
  ('without a header', '{"p":"TShoSq3dqXtg","h":{"iv":"+FsDxf6KEaDTCsz2","at":"uECIVa9qE9sGD+H/cHpd2g==","c":true}}'),
  ('with a dictionary that is not there', '{"p":"9TlAsVHOfizCEbfTcA3RmJM=","h":{"iv":"dBtCsZTlNdXUJViq","at":"KckGC0PB1M/MsuU7OjB5Ng==","c":true}}'),
  ('not compressed', '{"p":"92iuwhv0ohxP46vqn4UHGF7QUA==","h":{"iv":"IxGI6MBkuEHFHlBc","at":"H+2bQu6vnibZMpooXhGN8A==","c":true}}'),
  ('a block of no kind', '{"p":"yM1zpaEPKldlvpG+RfMp","h":{"iv":"dw8WIHvPs/hYcPdf","at":"ed7ZfAb1McBT64lpeUE+LA==","c":true}}'),
  ('a distance before the beginning', '{"p":"br7J0szsjUE=","h":{"iv":"QMwGvQqFWChG8YMj","at":"EC4MJNWjarvLUsFMoS9uWw==","c":true}}')) AS compressed (what, value);
SELECT is(tde_open_envelope('fernet', NULL, '\x00'), NULL, 'NULL is NULL');

SELECT * FROM finish();
ROLLBACK;
