-- The schema of today, written by `npm run docs` from migrated databases: read it, do not edit it, nothing runs it. To change the
-- schema, add a migration beside this file. The migrations also say why a table is as it is; docs/data-model.md says what it means.

CREATE TABLE events
(
    `site_id` String,
    `day` Date,
    `time` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `visitor_id` UInt64 CODEC(Delta(8), ZSTD(1)),
    `session_id` UInt64 CODEC(ZSTD(1)),
    `event_id` UInt64 CODEC(NONE),
    `name` LowCardinality(String) CODEC(ZSTD(1)),
    `hostname` LowCardinality(String) CODEC(ZSTD(1)),
    `pathname` LowCardinality(String) CODEC(ZSTD(1)),
    `referrer` LowCardinality(String) CODEC(ZSTD(1)),
    `channel` LowCardinality(String) CODEC(ZSTD(1)),
    `utm_source` LowCardinality(String) CODEC(ZSTD(1)),
    `country` LowCardinality(String) CODEC(ZSTD(1)),
    `device` LowCardinality(String) CODEC(ZSTD(1)),
    `utm_medium` LowCardinality(String) CODEC(ZSTD(1)),
    `utm_campaign` LowCardinality(String) CODEC(ZSTD(1)),
    `utm_content` LowCardinality(String) CODEC(ZSTD(1)),
    `utm_term` LowCardinality(String) CODEC(ZSTD(1)),
    `browser` LowCardinality(String) CODEC(ZSTD(1)),
    `os` LowCardinality(String) CODEC(ZSTD(1)),
    `props` Map(LowCardinality(String), LowCardinality(String)) CODEC(ZSTD(1)),
    `revenue` UInt64 CODEC(ZSTD(1)),
    `currency` LowCardinality(String) CODEC(ZSTD(1)),
    `import_id` UInt64 CODEC(ZSTD(1)),
    CONSTRAINT after_the_epoch CHECK day > toDate('1970-01-01')
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (site_id, day, visitor_id, time)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1, index_granularity = 8192, replicated_deduplication_window = 1000000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE imported_sums
(
    `site_id` String,
    `list` LowCardinality(String),
    `version` UInt64,
    `day` Date,
    `value` String,
    `import_id` UInt64,
    `visitors` Int64 CODEC(T64, ZSTD(1)),
    `pageviews` Int64 CODEC(T64, ZSTD(1)),
    `sessions` Int64 CODEC(T64, ZSTD(1)),
    `bounces` Int64 CODEC(T64, ZSTD(1)),
    `duration` Int64 CODEC(T64, ZSTD(1)),
    `events` Int64 CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYear(day)
PRIMARY KEY (site_id, list, version, day)
ORDER BY (site_id, list, version, day, value)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1, index_granularity = 8192;

CREATE TABLE kept_days
(
    `site_id` String,
    `version` UInt32,
    `first` Date,
    `last` Date
)
ENGINE = MergeTree
ORDER BY (site_id, first)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1, index_granularity = 8192;

CREATE TABLE ledger
(
    `epoch` UInt32,
    `mark` SimpleAggregateFunction(max, UInt64),
    `events_from` SimpleAggregateFunction(max, Date)
)
ENGINE = AggregatingMergeTree
ORDER BY epoch
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1, index_granularity = 8192;

CREATE TABLE long_rollups
(
    `site_id` String,
    `rollup_key` String,
    `dimension` LowCardinality(String),
    `grouping_set` UInt8,
    `hostname` String,
    `utm_source` String,
    `country` LowCardinality(String),
    `device` LowCardinality(String),
    `day` Date CODEC(Delta(2), ZSTD(1)),
    `value` String CODEC(ZSTD(1)),
    `views` Int64 CODEC(T64, ZSTD(1)),
    `visitors` Int64 CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYear(day)
PRIMARY KEY (site_id, rollup_key, utm_source, device, country, day)
ORDER BY (site_id, rollup_key, utm_source, device, country, day, value)
SETTINGS index_granularity = 2048, merge_selector_base = 8, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1;

CREATE TABLE migrations
(
    `name` String,
    `checksum` String,
    `applied_at` DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY name
SETTINGS index_granularity = 8192;

CREATE TABLE sessions
(
    `site_id` String,
    `version` UInt32,
    `day` Date,
    `visitor` UInt32 CODEC(T64, ZSTD(1)),
    `country` LowCardinality(String) CODEC(ZSTD(1)),
    `device` LowCardinality(String) CODEC(ZSTD(1)),
    `browser` LowCardinality(String) CODEC(ZSTD(1)),
    `os` LowCardinality(String) CODEC(ZSTD(1)),
    `referrer` LowCardinality(String) CODEC(ZSTD(1)),
    `channel` LowCardinality(String) CODEC(ZSTD(1)),
    `utm_source` LowCardinality(String) CODEC(ZSTD(1)),
    `utm_medium` LowCardinality(String) CODEC(ZSTD(1)),
    `utm_campaign` LowCardinality(String) CODEC(ZSTD(1)),
    `utm_content` LowCardinality(String) CODEC(ZSTD(1)),
    `utm_term` LowCardinality(String) CODEC(ZSTD(1)),
    `entry_page` LowCardinality(String) CODEC(ZSTD(1)),
    `exit_page` LowCardinality(String) CODEC(ZSTD(1)),
    `pageviews` UInt32 CODEC(T64, ZSTD(1)),
    `custom_events` UInt32 CODEC(T64, ZSTD(1)),
    `milliseconds` UInt64 CODEC(T64, ZSTD(1)),
    `hits.hostname` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `hits.pathname` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `hits.name` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `hits.count` Array(UInt32) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
PRIMARY KEY (site_id, version, day, channel, referrer)
ORDER BY (site_id, version, day, channel, referrer, utm_source, utm_campaign, country, device)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1, index_granularity = 8192;

CREATE TABLE short_rollups
(
    `site_id` String,
    `rollup_key` String,
    `dimension` LowCardinality(String),
    `grouping_set` UInt8,
    `hostname` String,
    `utm_source` String,
    `country` LowCardinality(String),
    `device` LowCardinality(String),
    `day` Date,
    `value` String,
    `views` Int64 CODEC(T64, LZ4),
    `visitors` Int64 CODEC(T64, LZ4),
    `sessions` Int64 CODEC(T64, LZ4),
    `bounces` Int64 CODEC(T64, LZ4),
    `duration` Int64 CODEC(T64, LZ4)
)
ENGINE = MergeTree
PARTITION BY toYear(day)
PRIMARY KEY (site_id, rollup_key, utm_source, device, country, day)
ORDER BY (site_id, rollup_key, utm_source, device, country, day, value)
SETTINGS index_granularity = 2048, merge_selector_base = 2, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1;

CREATE TABLE titles
(
    `site_id` String,
    `pathname` String,
    `country` LowCardinality(String),
    `latest` SimpleAggregateFunction(max, Tuple(
        time DateTime64(3, 'UTC'),
        event_id String,
        title String))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, pathname, country)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1, index_granularity = 8192, replicated_deduplication_window = 1000000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE today_rollups
(
    `site_id` String,
    `rollup_key` String,
    `dimension` LowCardinality(String),
    `grouping_set` UInt8,
    `hostname` String,
    `utm_source` String,
    `country` LowCardinality(String),
    `device` LowCardinality(String),
    `day` Date,
    `value` String,
    `views` Int64,
    `visitors` Int64,
    `sessions` Int64,
    `bounces` Int64,
    `duration` Int64,
    `written` DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toStartOfInterval(written, toIntervalMinute(10))
PRIMARY KEY (site_id, rollup_key, utm_source, device, country, day)
ORDER BY (site_id, rollup_key, utm_source, device, country, day, value)
TTL written + toIntervalMinute(30)
SETTINGS index_granularity = 2048, ttl_only_drop_parts = 1, merge_with_ttl_timeout = 600;
