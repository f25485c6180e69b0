-- Alerts of a site: what its people want to hear of without looking (decision D-243).
CREATE TABLE alerts
(
    id          text PRIMARY KEY CHECK (id ~ '^alert_[a-z2-7]{16}$'),
    site_id     text NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    kind        text NOT NULL CHECK (kind IN ('many', 'rise', 'drop', 'silence', 'missing')),
    -- Visitors, times, percent or hours.
    threshold   integer NOT NULL CHECK (threshold > 0),
    -- Below this usual number nothing is judged.
    min_usual   integer CHECK (min_usual > 0),
    event       text CHECK (length(event) BETWEEN 1 AND 120),
    mail_to     text NOT NULL CHECK (mail_to IN ('owners', 'members', 'nobody')),
    to_webhooks boolean NOT NULL,
    -- Hours of the site's clock; from 22 until 7 goes over midnight.
    quiet_from  smallint CHECK (quiet_from BETWEEN 0 AND 23),
    quiet_until smallint CHECK (quiet_until BETWEEN 0 AND 23),
    created_by  text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    -- Counts changes by people: what was judged by earlier settings is not noted.
    version     integer NOT NULL DEFAULT 1,
    is_on       boolean NOT NULL DEFAULT false,
    -- Whether the last message said that it began. It differs from is_on during quiet hours.
    is_told     boolean NOT NULL DEFAULT false,
    began_at    timestamptz,
    over_at     timestamptz,
    -- The numbers that it began and ended with.
    began_with  jsonb,
    over_with   jsonb,
    CONSTRAINT alerts_usual CHECK ((kind = 'many') = (min_usual IS NULL)),
    CONSTRAINT alerts_event CHECK ((kind = 'missing') = (event IS NOT NULL)),
    CONSTRAINT alerts_quiet_hours CHECK ((quiet_from IS NULL) = (quiet_until IS NULL) AND quiet_from <> quiet_until)
);
CREATE INDEX alerts_site_id ON alerts (site_id);

-- When the alerts of the sites on a shard were last judged, and since when without a long pause.
CREATE TABLE alert_checks
(
    shard         smallint PRIMARY KEY REFERENCES shards (number),
    checked_at    timestamptz NOT NULL,
    watched_since timestamptz NOT NULL
);
