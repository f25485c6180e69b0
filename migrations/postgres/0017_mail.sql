-- E-mail: who gets which report, and messages on their way (decisions D-219, D-221).

CREATE TABLE report_subscriptions
(
    id           text PRIMARY KEY CHECK (id ~ '^rep_[a-z2-7]{16}$'),
    account_id   text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- NULL: one report about all sites of the account.
    site_id      text REFERENCES sites (id) ON DELETE CASCADE,
    email        text NOT NULL CHECK (email = lower(email)),
    -- NULL: an address that is no member. The reports of a member end with the membership.
    user_id      text,
    every        text NOT NULL CHECK (every IN ('week', 'month')),
    hour         smallint NOT NULL CHECK (hour BETWEEN 0 AND 23),
    time_zone    text NOT NULL,
    -- The first day of the week or month that is reported next.
    next_period  date NOT NULL,
    -- When to find out whether that report is due. Earlier than its hour after a change that may bring it forward.
    look_at      timestamptz NOT NULL,
    -- NULL: nothing is sent before the address has confirmed.
    confirmed_at timestamptz,
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (account_id, user_id) REFERENCES members (account_id, user_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX report_subscriptions_once ON report_subscriptions (account_id, email, every, coalesce(site_id, ''));
CREATE INDEX report_subscriptions_look_at ON report_subscriptions (look_at) WHERE confirmed_at IS NOT NULL;
CREATE INDEX report_subscriptions_site_id ON report_subscriptions (site_id);

CREATE TABLE outbox
(
    id              text PRIMARY KEY CHECK (id ~ '^mail_[a-z2-7]{16}$'),
    kind            text NOT NULL,
    recipient       text NOT NULL CHECK (recipient = lower(recipient)),
    account_id      text REFERENCES accounts (id) ON DELETE CASCADE,
    subscription_id text REFERENCES report_subscriptions (id) ON DELETE CASCADE,
    period          date,
    -- Subject, text and HTML, encrypted. NULL for a report, which is written when it is sent, and when nobody needs it any more.
    content         bytea,
    state           text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sending', 'sent', 'failed', 'in doubt')),
    queued_at       timestamptz NOT NULL DEFAULT now(),
    due_at          timestamptz NOT NULL DEFAULT now(),
    -- After that the message is of no use, because its link does not work any more.
    expires_at      timestamptz,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    -- Every claim counts as an attempt; only what the mail server or the network refused counts as a failure.
    attempts        integer NOT NULL DEFAULT 0,
    failures        smallint NOT NULL DEFAULT 0,
    -- The process that has it, or had it last.
    sender          uuid,
    claimed_until   timestamptz,
    -- Written just before the end of the message is sent: from then on the mail server may have it.
    handed_over_at  timestamptz,
    problem         text NOT NULL DEFAULT '',
    changed_at      timestamptz NOT NULL DEFAULT now(),
    CHECK ((kind = 'report') = (subscription_id IS NOT NULL)),
    CHECK ((kind = 'report') = (period IS NOT NULL)),
    CONSTRAINT outbox_report_once UNIQUE (subscription_id, period)
);
CREATE INDEX outbox_waiting ON outbox (next_attempt_at) WHERE state = 'waiting';
-- For what is tidied up every few seconds, however many messages wait or were sent.
CREATE INDEX outbox_queued_at ON outbox (queued_at) WHERE state = 'waiting';
CREATE INDEX outbox_expires_at ON outbox (expires_at) WHERE content IS NOT NULL;
CREATE INDEX outbox_sending ON outbox (claimed_until) WHERE state = 'sending';
CREATE INDEX outbox_changed_at ON outbox (changed_at);
CREATE INDEX outbox_recipient ON outbox (recipient, queued_at);
CREATE INDEX outbox_account_id ON outbox (account_id, queued_at);

-- The expiry about which the owners have been told: a key whose expiry changes is announced again.
ALTER TABLE api_keys ADD COLUMN announced_expiry timestamptz;
CREATE INDEX api_keys_expires_at ON api_keys (expires_at);

-- A site that moves to another time zone, comes or goes may bring a report forward.
CREATE FUNCTION look_at_reports_again() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE
    changed sites := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    UPDATE report_subscriptions SET look_at = now()
    WHERE account_id = changed.account_id AND (site_id IS NULL OR site_id = changed.id);
    RETURN NULL;
END
$$;
CREATE TRIGGER look_at_reports_again AFTER INSERT OR DELETE OR UPDATE OF time_zone ON sites
    FOR EACH ROW EXECUTE FUNCTION look_at_reports_again();
