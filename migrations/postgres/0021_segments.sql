-- Segments: filters of a site's dashboard under a name. Shared links and reports by e-mail keep a copy of the filters that they were made with
-- (decision D-238). Filters are texts as in the API: page:starts_with:/blog
CREATE TABLE segments
(
    site_id    text NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
    filters    text[] NOT NULL CHECK (cardinality(filters) BETWEEN 1 AND 8),
    -- The email of a user.
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (site_id, name)
);

-- The site's row is locked, so that two new segments at the same time do not both become the hundredth.
CREATE FUNCTION limit_segments() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = NEW.site_id FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM segments WHERE site_id = NEW.site_id) >= 100 THEN
        RAISE EXCEPTION 'A site has at most 100 segments.' USING ERRCODE = 'check_violation', CONSTRAINT = 'segments_at_most_100';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER limit_segments BEFORE INSERT ON segments FOR EACH ROW EXECUTE FUNCTION limit_segments();

-- NULL: a link of an earlier version, whose filters are in country, device, hostname and utm_source.
ALTER TABLE shared_links ADD COLUMN filters text[] CHECK (cardinality(filters) <= 8);

ALTER TABLE report_subscriptions ADD COLUMN filters text[] NOT NULL DEFAULT '{}';
-- Dimensions of visits are those of one site.
ALTER TABLE report_subscriptions ADD CONSTRAINT report_subscriptions_filters CHECK (cardinality(filters) <= 8 AND (site_id IS NOT NULL OR filters = '{}'));
-- An address may get several reports about a site, with other filters each.
DROP INDEX report_subscriptions_once;
CREATE UNIQUE INDEX report_subscriptions_once ON report_subscriptions (account_id, email, every, coalesce(site_id, ''), filters);
