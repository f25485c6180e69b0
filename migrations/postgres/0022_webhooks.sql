-- Webhooks of a site, and messages on their way to them (decision D-239).

CREATE TABLE webhooks
(
    id             text PRIMARY KEY CHECK (id ~ '^whk_[a-z2-7]{16}$'),
    site_id        text NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    url            text NOT NULL CHECK (length(url) <= 2000),
    -- The secret that signs messages, encrypted.
    secret         bytea NOT NULL,
    -- Counts rotations, so that a form that is sent again does not rotate again.
    secret_version integer NOT NULL DEFAULT 1,
    created_by     text NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    disabled_at    timestamptz
);
CREATE INDEX webhooks_site_id ON webhooks (site_id);

CREATE TABLE webhook_deliveries
(
    id              text PRIMARY KEY CHECK (id ~ '^whd_[a-z2-7]{16}$'),
    webhook_id      text NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    -- The first delivery of the same message, whose id receivers know the message by. It may be deleted already.
    replay_of       text,
    type            text NOT NULL CHECK (type ~ '^[a-z_.]{1,60}$'),
    -- Text, because the signature is of these bytes.
    body            text NOT NULL,
    state           text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sending', 'delivered', 'failed', 'in doubt')),
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    -- Every claim counts as an attempt; only what the receiver or the network refused counts as a failure.
    attempts        integer NOT NULL DEFAULT 0,
    failures        smallint NOT NULL DEFAULT 0,
    -- The process that has it, or had it last.
    sender          uuid,
    claimed_until   timestamptz,
    -- Written just before the request is sent: from then on the receiver may have it.
    handed_over_at  timestamptz,
    -- Of the last attempt that got an answer, and how long that attempt took.
    http_status     smallint,
    duration_ms     integer,
    problem         text NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL DEFAULT now(),
    changed_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, created_at);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (next_attempt_at) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_waiting_since ON webhook_deliveries (created_at) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (claimed_until) WHERE state = 'sending';
CREATE INDEX webhook_deliveries_created_at ON webhook_deliveries (created_at);
