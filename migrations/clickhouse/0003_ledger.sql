-- What PostgreSQL has recorded about the rows of this shard (decision D-205): the number of its changes in each epoch, and the first day
-- whose events are retained.
CREATE TABLE IF NOT EXISTS ledger
(
    epoch       UInt32,
    mark        SimpleAggregateFunction(max, UInt64),
    events_from SimpleAggregateFunction(max, Date)
)
ENGINE = AggregatingMergeTree
ORDER BY epoch
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1;

-- Which version to read for days whose events are gone.
CREATE TABLE IF NOT EXISTS kept_days
(
    site_id String,
    version UInt32,
    first   Date,
    last    Date
)
ENGINE = MergeTree
ORDER BY (site_id, first)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1;
