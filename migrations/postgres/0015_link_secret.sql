-- Which of KEY_SECRETS made the checksum in the token of a shared link (decision D-208). NULL: the link is older and has none.
ALTER TABLE shared_links ADD COLUMN secret_version integer;
