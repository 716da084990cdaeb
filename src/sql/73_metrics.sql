--
-- Metrics: one row for Prometheus and its like
--

CREATE FUNCTION tde_internal.tde_event_counters(OUT decryptions int8, OUT not_authentic int8, OUT wallet_opened int8, OUT wallet_refused int8)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION tde_internal.tde_event_counters() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tde_internal.tde_event_counters() TO pg_monitor;
COMMENT ON FUNCTION tde_internal.tde_event_counters() IS 'what all processes have done since the server started';

CREATE VIEW tde.metrics AS
  SELECT tde_internal.tde_all_encryptions() AS encryptions, e.decryptions, e.not_authentic, e.wallet_opened, e.wallet_refused,
         (w.status OPERATOR(pg_catalog.=) 'OPEN')::pg_catalog.int4 AS wallet_open,
         k.data_keys, k.key_age_seconds, k.values_left,
         (SELECT pg_catalog.count(*) FROM tde.conversions) AS unfinished_conversions
  FROM tde_internal.tde_event_counters() e, tde_internal.tde_wallet_status() w,
       (SELECT pg_catalog.count(*) AS data_keys,
               EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) pg_catalog.min(created))::pg_catalog.int8 AS key_age_seconds,
               -- of salted AES-GCM; of other ciphers, but for triple DES, it is more
               COALESCE(NULLIF(pg_catalog.current_setting('tde_column.encryption_limit')::pg_catalog.int8, 0), 2147483648)
                 OPERATOR(pg_catalog.-) COALESCE(pg_catalog.max(total_encryptions), 0) AS values_left
        FROM tde.keys WHERE state OPERATOR(pg_catalog.=) 'active') k;
GRANT SELECT ON tde.metrics TO pg_monitor;
COMMENT ON VIEW tde.metrics IS
  'one row of numbers for Prometheus and its like: what the server has done since it started, the wallet, and the active data keys of this database';
