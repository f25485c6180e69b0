-- The latest title of a page by the country it was seen from, so that visitors from an excluded country do not name a page (decision
-- D-18). Made from the events. A title whose event is gone, because old months were dropped, is kept without a country. Made as a whole
-- and then put in the place of the old table, so that it may run again: a title that is found in the events gets its country, every
-- other one stays without.
CREATE OR REPLACE TABLE titles
(
    site_id  String,
    pathname String,
    country  LowCardinality(String),
    latest   SimpleAggregateFunction(max, Tuple(time DateTime64(3, 'UTC'), event_id String, title String))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, pathname, country)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1
AS
SELECT site_id, pathname, country, max((time, toString(event_id), title)) AS latest
FROM events
WHERE title != ''
GROUP BY site_id, pathname, country
UNION ALL
SELECT site_id, pathname, '' AS country, latest
FROM titles
WHERE (site_id, latest.event_id) NOT IN
(
    SELECT site_id, toString(event_id)
    FROM events
    WHERE title != '' AND (site_id, toString(event_id)) IN (SELECT site_id, latest.event_id FROM titles)
)
