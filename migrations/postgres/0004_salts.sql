-- What visitor ids are made with: one random salt for each day of each time zone, shared by all collectors and never derived from
-- anything. Once a salt is deleted nobody can compute an id of its day again.
CREATE TABLE salts
(
    time_zone text NOT NULL,
    day       date NOT NULL,
    salt      bytea NOT NULL CHECK (octet_length(salt) = 32),
    PRIMARY KEY (time_zone, day)
);
