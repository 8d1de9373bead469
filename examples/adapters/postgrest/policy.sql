-- PostgREST verifies the session, takes the role from it, and puts its claims into a setting of the transaction.
GRANT SELECT ON sales TO dashboard;
ALTER TABLE sales ENABLE ROW LEVEL SECURITY;
CREATE POLICY viewer ON sales FOR SELECT TO dashboard
  USING (customer = nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub');
