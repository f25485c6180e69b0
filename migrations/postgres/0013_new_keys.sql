-- The key that an action made. It is named once, also after the key is deleted: a form that is sent again makes no second one (decision D-212).
ALTER TABLE audit_log ADD COLUMN new_key_id text;
CREATE UNIQUE INDEX ON audit_log (new_key_id) WHERE new_key_id IS NOT NULL;
