-- Answers that are counted again from single events (decision D-247). A site has one small row: its days are visited in rounds, and `visited` never
-- has more than some dozen ranges.
CREATE TABLE recounts
(
    site_id     text PRIMARY KEY REFERENCES sites (id) ON DELETE CASCADE,
    round       integer NOT NULL,
    -- The days of this round that were visited.
    visited     datemultirange NOT NULL DEFAULT '{}',
    visited_at  timestamptz,
    since       timestamptz NOT NULL DEFAULT now(),
    answers     bigint NOT NULL DEFAULT 0,
    differences bigint NOT NULL DEFAULT 0
);
-- The site to visit next comes first.
CREATE INDEX recounts_next ON recounts (round, visited_at NULLS FIRST);

-- The sums of a shard, which metrics read, and when its next day may be visited. They also count sites that are deleted.
CREATE TABLE recount_shards
(
    shard       smallint PRIMARY KEY REFERENCES shards (number),
    since       timestamptz NOT NULL DEFAULT now(),
    due_at      timestamptz NOT NULL DEFAULT now(),
    -- When sites that are new among the rolled-up ones were last looked for.
    searched_at timestamptz NOT NULL DEFAULT '-infinity',
    visited_at  timestamptz,
    days        bigint NOT NULL DEFAULT 0,
    -- Days that were visited and have nothing to compare.
    empty_days  bigint NOT NULL DEFAULT 0,
    answers     bigint NOT NULL DEFAULT 0,
    differences bigint NOT NULL DEFAULT 0
);

-- Answers that differed from the events, with the statements of both.
CREATE TABLE recount_differences
(
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site_id    text NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    day        date NOT NULL,
    -- What was asked: as the program asks again, and as a request of the API.
    question   jsonb NOT NULL,
    request    text NOT NULL,
    found_at   timestamptz NOT NULL DEFAULT now(),
    looked_at  timestamptz NOT NULL DEFAULT now(),
    -- The first rows that differ, with both numbers.
    differing  jsonb NOT NULL,
    recounted  text NOT NULL CHECK (length(recounted) <= 20000),
    answered   text NOT NULL CHECK (length(answered) <= 20000),
    -- When the same question had the same answer as the events again.
    repaired_at timestamptz
);
CREATE INDEX recount_differences_of_site ON recount_differences (site_id, id);
CREATE INDEX recount_differences_open ON recount_differences (looked_at) WHERE repaired_at IS NULL;
