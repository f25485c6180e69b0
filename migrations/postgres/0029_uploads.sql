-- Files that somebody has uploaded to import them (decision D-249). The files themselves are with the process that received them.
CREATE TABLE uploads
(
    id         uuid PRIMARY KEY,
    -- A site has one at a time.
    site_id    text NOT NULL UNIQUE REFERENCES sites (id) ON DELETE CASCADE,
    files      text[] NOT NULL,
    -- `waiting`: for the owner, who has seen the preview. `confirmed`: the process begins the import within a second.
    state      text NOT NULL CHECK (state IN ('checking', 'waiting', 'confirmed', 'importing', 'imported', 'failed')),
    -- Of the step that is running, from 0 to 1.
    progress   real NOT NULL DEFAULT 0,
    -- The last day to import. NULL: all.
    until      date,
    -- What would be imported and what is left out.
    preview    jsonb,
    -- What was imported.
    outcome    jsonb,
    -- Why it failed.
    fault      text,
    -- The email of a user, and the truncated address, for the audit log.
    created_by text NOT NULL,
    address    text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The process that has the files says so every second.
    seen_at    timestamptz NOT NULL DEFAULT now()
);

-- The import that a note is about: undoing it removes the note (decision D-240).
ALTER TABLE notes ADD COLUMN import_id uuid;
