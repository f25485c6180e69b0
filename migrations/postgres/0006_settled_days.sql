-- Until which day a site's events are settled: what is written for such a day from now on is noted (traffic/late-days.ts), and each
-- note raises `late`. Answers about settled days are good until then (decision D-78), so both travel with the site.
ALTER TABLE site_folding ADD COLUMN late integer NOT NULL DEFAULT 0;

CREATE TRIGGER announce_first AFTER INSERT ON site_folding
    FOR EACH ROW EXECUTE FUNCTION announce_fold();

CREATE TRIGGER announce AFTER UPDATE ON site_folding
    FOR EACH ROW WHEN (OLD.considered_through IS DISTINCT FROM NEW.considered_through OR OLD.late <> NEW.late)
    EXECUTE FUNCTION announce_fold();
