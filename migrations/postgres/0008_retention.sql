-- From which day on single events are kept (decision D-79). One row; its dates are firsts of months, since months are what is dropped.
-- No event is of the epoch's first day, so that is: for ever.
CREATE TABLE retention
(
    only_row      boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- Days before it take no more events, and one that is folded is never folded again.
    kept_from     date NOT NULL DEFAULT '1970-01-01' CHECK (extract(day FROM kept_from) = 1),
    -- Every day before it that has events is folded: they may be dropped once nobody can be reading them any more.
    folded_before date NOT NULL DEFAULT '1970-01-01' CHECK (folded_before <= kept_from),
    folded_at     timestamptz NOT NULL DEFAULT now()
);

INSERT INTO retention DEFAULT VALUES;

-- It travels with every site. Without a notice: whoever finds the counter raised by polling forgets all of them (0002_changes.sql).
CREATE FUNCTION announce_retention() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    UPDATE control_version SET version = version + 1;
    RETURN NULL;
END
$$;

CREATE TRIGGER announce AFTER INSERT OR UPDATE OF kept_from ON retention
    FOR EACH ROW EXECUTE FUNCTION announce_retention();
