CREATE TABLE log (
    dataset TEXT NOT NULL,
    number INTEGER NOT NULL,
    key TEXT,
    line TEXT NOT NULL,
    UNIQUE (dataset, number)
);
CREATE UNIQUE INDEX log_keys ON log (dataset, key) WHERE key IS NOT NULL;
CREATE TABLE answers (
    dataset TEXT NOT NULL,
    number INTEGER NOT NULL,
    responder TEXT NOT NULL,
    name BLOB NOT NULL,
    value BLOB NOT NULL,
    margin BLOB NOT NULL,
    seal BLOB NOT NULL,
    UNIQUE (dataset, responder, name)
);
CREATE INDEX answers_by_row ON answers (dataset, number, responder, name);
-- INSERT OR REPLACE deletes without firing the DELETE triggers, so inserts are watched too.
CREATE TRIGGER log_at_its_end BEFORE INSERT ON log
WHEN NEW.number IS NOT (
    SELECT coalesce(max(number), -1) + 1 FROM log WHERE dataset = NEW.dataset
) OR EXISTS (SELECT 1 FROM log WHERE dataset = NEW.dataset AND key = NEW.key)
OR EXISTS (SELECT 1 FROM log WHERE rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'a ledger only grows at its end'); END;
CREATE TRIGGER log_no_update BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER log_no_delete BEFORE DELETE ON log
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER answers_no_replace BEFORE INSERT ON answers
WHEN EXISTS (
    SELECT 1 FROM answers
    WHERE dataset = NEW.dataset AND responder = NEW.responder AND name = NEW.name
) OR EXISTS (SELECT 1 FROM answers WHERE rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
CREATE TRIGGER answers_no_update BEFORE UPDATE ON answers
BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
CREATE TRIGGER answers_no_delete BEFORE DELETE ON answers
BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
