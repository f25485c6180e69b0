-- Parts of closed days that a busy site's comparisons end with, counted together with its open days (decision D-81): which day, until which
-- instant, and the version that the day was readable under when it was counted.
ALTER TABLE open_folds ADD COLUMN parts jsonb NOT NULL DEFAULT '[]';
