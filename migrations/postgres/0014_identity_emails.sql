-- The verified email of an identity when it was connected, so that people see whose it is; null if there was none, or it was connected before.
-- Nobody is found by it (decision D-189).
ALTER TABLE user_identities ADD COLUMN email text;
