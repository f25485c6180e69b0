-- Replicas of a shard that did not have the rows of a rolled-up day when the day became readable (decision D-202). The transaction that
-- makes the day readable writes the row, so a reader learns of both at once.
CREATE TABLE replica_gaps
(
    shard   smallint REFERENCES shards,
    -- Its place in CLICKHOUSE_SHARDS, counted from 1.
    replica smallint,
    -- Grows with every such day. A process that has seen the replica catch up since then may read it.
    mark    bigint NOT NULL,
    PRIMARY KEY (shard, replica)
);

CREATE SEQUENCE replica_gap_marks;
