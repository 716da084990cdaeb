-- pg_cron: a job that stores encrypted values.  It runs at the next full minute.
SELECT * FROM no_plan();
CREATE EXTENSION pg_cron;
SELECT FROM cron.schedule('* * * * *', $$INSERT INTO encrypted (id, n) VALUES (3000, 5) ON CONFLICT DO NOTHING$$);
UPDATE cron.job SET nodename = '';
DO $$
BEGIN
  FOR i IN 1 .. 130 LOOP
    EXIT WHEN EXISTS (SELECT FROM encrypted WHERE id = 3000);
    PERFORM pg_sleep(1);
    COMMIT;
  END LOOP;
END
$$;
SELECT is((SELECT n::int FROM encrypted WHERE id = 3000), 5, 'a job has stored a value');
SELECT cron.unschedule(jobid) FROM cron.job \g /dev/null
SELECT * FROM finish();
