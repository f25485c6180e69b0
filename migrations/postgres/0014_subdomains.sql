-- A site's own list of host names and their `www.` alone, unless its owner allows everything below them: ids are public, and
-- whoever could invent subdomains could fill the lists of a site with them.
ALTER TABLE sites ADD COLUMN IF NOT EXISTS allow_subdomains boolean NOT NULL DEFAULT false
