CREATE TABLE version (number integer NOT NULL);
CREATE TABLE log (
    dataset text NOT NULL,
    number bigint NOT NULL,
    key text,
    line text NOT NULL,
    PRIMARY KEY (dataset, number)
);
CREATE UNIQUE INDEX log_keys ON log (dataset, key) WHERE key IS NOT NULL;
CREATE TABLE answers (
    dataset text NOT NULL,
    number bigint NOT NULL,
    responder text NOT NULL,
    name bytea NOT NULL,
    value bytea NOT NULL,
    margin bytea NOT NULL,
    seal bytea NOT NULL,
    PRIMARY KEY (dataset, responder, name)
);
CREATE INDEX answers_by_row ON answers (dataset, number, responder, name);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a ledger is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- Whoever appends holds the data set's lock until the commit; what is in doubt is waited for there.
CREATE FUNCTION lock_dataset(name text) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(1346454322, hashtext(name))
$$;
-- Compare and append: an order and a limit leave one plan, whatever is known about the table.
CREATE FUNCTION only_at_the_end() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    last record;
BEGIN
    PERFORM pacsklearn.lock_dataset(NEW.dataset);
    SELECT number, line INTO last FROM pacsklearn.log WHERE dataset = NEW.dataset
        ORDER BY number DESC LIMIT 1;
    IF NEW.number <> coalesce(last.number, -1) + 1 OR position(
        '"previous":"' || coalesce(left(right(last.line, 66), 64), '') || '"' IN NEW.line
    ) = 0 THEN
        RAISE EXCEPTION 'a ledger only grows at its end'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.number = 0 AND NOT pg_has_role(
        current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER'
    ) THEN
        RAISE EXCEPTION 'permission denied: the owner of the tables founds ledgers'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
-- As the server prints them: they are compared with what it has.
CREATE TRIGGER log_no_change BEFORE DELETE OR UPDATE ON pacsklearn.log FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER log_no_truncate BEFORE TRUNCATE ON pacsklearn.log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER log_at_its_end BEFORE INSERT ON pacsklearn.log FOR EACH ROW EXECUTE FUNCTION only_at_the_end();
CREATE TRIGGER answers_no_change BEFORE DELETE OR UPDATE ON pacsklearn.answers FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER answers_no_truncate BEFORE TRUNCATE ON pacsklearn.answers FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
REVOKE ALL ON log, answers, version FROM PUBLIC;
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'pacsklearn_ledger_writer') THEN
        CREATE ROLE pacsklearn_ledger_writer NOLOGIN;
    END IF;
    IF NOT pg_has_role(current_user, 'pacsklearn_ledger_writer', 'MEMBER') THEN
        EXECUTE format('GRANT pacsklearn_ledger_writer TO %I', current_user);
    END IF;
END $$;
GRANT USAGE ON SCHEMA pacsklearn TO pacsklearn_ledger_writer;
GRANT SELECT, INSERT ON log, answers TO pacsklearn_ledger_writer;
GRANT SELECT ON version TO pacsklearn_ledger_writer;
