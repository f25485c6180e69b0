-- Goals of a site: named conditions that reports count (decision D-236). Nothing is recorded for a goal, so a change holds for past days too.
CREATE TABLE goals
(
    site_id        text NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    name           text NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
    -- Either the name of a custom event, perhaps with one property,
    event          text CHECK (length(event) BETWEEN 1 AND 120),
    property_key   text CHECK (property_key ~ '^[A-Za-z0-9_.-]{1,60}$'),
    property_value text CHECK (length(property_value) BETWEEN 1 AND 200),
    -- or a pattern of the paths of pageviews.
    path           text CHECK (path ~ '^/' AND length(path) <= 500),
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (site_id, name),
    CONSTRAINT goals_one_condition CHECK ((event IS NULL) <> (path IS NULL)),
    CONSTRAINT goals_property_of_event CHECK (property_key IS NULL OR event IS NOT NULL),
    CONSTRAINT goals_whole_property CHECK ((property_key IS NULL) = (property_value IS NULL))
);

-- The site's row is locked, so that two new goals at the same time do not both become the hundredth.
CREATE FUNCTION limit_goals() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = NEW.site_id FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM goals WHERE site_id = NEW.site_id) >= 100 THEN
        RAISE EXCEPTION 'A site has at most 100 goals.' USING ERRCODE = 'check_violation', CONSTRAINT = 'goals_at_most_100';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER limit_goals BEFORE INSERT ON goals FOR EACH ROW EXECUTE FUNCTION limit_goals();

-- Goals are part of the site, so a change of one is announced as a change of the site.
CREATE FUNCTION announce_goal() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE
    new_version bigint;
BEGIN
    UPDATE control_version SET version = version + 1 RETURNING version INTO new_version;
    PERFORM pg_notify('footfall_changes', new_version || ' ' || COALESCE(NEW.site_id, OLD.site_id));
    RETURN NULL;
END
$$;

CREATE TRIGGER announce AFTER INSERT OR DELETE OR UPDATE ON goals
    FOR EACH ROW EXECUTE FUNCTION announce_goal();
