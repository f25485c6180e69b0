-- Single sign-on, and links that sign in.

-- Who somebody is at an OpenID Connect provider: issuer and subject, never the email, which may change or be given to somebody else.
CREATE TABLE user_identities
(
    issuer     text NOT NULL,
    subject    text NOT NULL,
    user_id    text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject),
    UNIQUE (user_id, issuer)
);

-- Null: the user has no password, and signs in at the provider only.
ALTER TABLE users ALTER COLUMN password_hash DROP NOT NULL;

ALTER TABLE one_time_links
    DROP CONSTRAINT one_time_links_purpose_check,
    ADD CONSTRAINT one_time_links_purpose_check CHECK (purpose IN ('setup', 'invitation', 'reset', 'sign-in')),
    ADD CONSTRAINT one_time_links_sign_in_check CHECK (purpose <> 'sign-in' OR user_id IS NOT NULL);
