-- What an import has read, and when it was undone (decision D-240).
ALTER TABLE imports
  ADD COLUMN kind text NOT NULL DEFAULT '',
  ADD COLUMN files text[] NOT NULL DEFAULT '{}',
  -- Of what each file contains, in hexadecimal, in the same order.
  ADD COLUMN hashes text[] NOT NULL DEFAULT '{}',
  -- When it is finished: what it has imported.
  ADD COLUMN events bigint,
  ADD COLUMN days datemultirange,
  -- From the moment when its events may be missing.
  ADD COLUMN undoing_at timestamptz,
  ADD COLUMN undone_at timestamptz,
  DROP CONSTRAINT imports_site_id_content_key;

-- After it was undone, the same files may be imported again.
CREATE UNIQUE INDEX imports_content ON imports (site_id, content) WHERE undone_at IS NULL;
