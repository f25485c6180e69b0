-- Notes on days of a site, which the chart of its dashboard shows (decision D-242).
CREATE TABLE notes
(
    id         text PRIMARY KEY CHECK (id ~ '^note_[a-z2-7]{16}$'),
    site_id    text NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    -- In the time zone that the site had.
    day        date NOT NULL,
    text       text NOT NULL CHECK (length(text) BETWEEN 1 AND 200),
    -- What made Footfall write it. NULL: a person did.
    cause      text CHECK (cause IN ('import', 'time_zone', 'exclusions')),
    -- The email of a user, or `command line`.
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX notes_of_site ON notes (site_id, day);

-- The site's row is locked, so that two new notes at the same time do not both become the five hundredth. Footfall's own notes have a limit of
-- their own, because an import must not fail for a note.
CREATE FUNCTION limit_notes() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM FROM sites WHERE id = NEW.site_id FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM notes WHERE site_id = NEW.site_id AND cause IS NULL) >= 500 THEN
        RAISE EXCEPTION 'A site has at most 500 notes.' USING ERRCODE = 'check_violation', CONSTRAINT = 'notes_at_most_500';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER limit_notes BEFORE INSERT ON notes FOR EACH ROW WHEN (NEW.cause IS NULL) EXECUTE FUNCTION limit_notes();

-- Links that exist do not show what nobody chose to show.
ALTER TABLE shared_links ADD COLUMN shows_notes boolean NOT NULL DEFAULT FALSE;
