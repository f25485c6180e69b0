-- What processes of the version before wrote into the old table while the new one was made is in the events, which are written first.
INSERT INTO titles (site_id, pathname, country, latest)
SELECT site_id, pathname, country, max((time, toString(event_id), title))
FROM events
WHERE title != ''
GROUP BY site_id, pathname, country
