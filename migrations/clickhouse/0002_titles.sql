-- The latest non-empty title of a page, written with the events that carry it. `max` of a tuple orders by time, then by
-- event id as text, so the order of arrival never matters and writing a title again changes nothing.
CREATE TABLE IF NOT EXISTS titles
(
    site_id  String,
    pathname String,
    latest   SimpleAggregateFunction(max, Tuple(time DateTime64(3, 'UTC'), event_id String, title String))
)
ENGINE = AggregatingMergeTree
ORDER BY (site_id, pathname)
