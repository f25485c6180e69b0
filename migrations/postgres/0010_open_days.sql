-- The open days of a busy site, counted every minute (decision D-81): while `as_of` is recent, they are read instead of the events.
CREATE TABLE open_folds
(
    site_id   text PRIMARY KEY REFERENCES sites ON DELETE CASCADE,
    first_day date NOT NULL,
    last_day  date NOT NULL,
    version   bigint NOT NULL,
    as_of     timestamptz NOT NULL
);

CREATE TRIGGER announce AFTER INSERT OR UPDATE ON open_folds
    FOR EACH ROW EXECUTE FUNCTION announce_fold();

-- Who is busy: events of the last day that was folded.
ALTER TABLE site_folding ADD COLUMN last_day_events integer NOT NULL DEFAULT 0;
