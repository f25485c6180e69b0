-- Folded days move into a table of another shape (clickhouse/0006_tallies.sql): until it is folded again, every day is read from the
-- events. Announced like any change of a site, so running processes know within a second.
UPDATE site_folds SET days = '{}', months = '{}', pending_days = '{}', pending_months = '{}';
DELETE FROM site_folds;
UPDATE site_folding SET considered_through = NULL, considered_at = NULL, late = late + 1;
