-- A lease a data set, so that coordinators share them. Whoever leads some renews one row of its own;
-- the row without a name is locked for what belongs to no data set, and its token counts coordinators.
CREATE TABLE service_coordinators (
    number bigint PRIMARY KEY,
    holder text NOT NULL,
    until double precision NOT NULL
);
DROP TABLE service_leases;
CREATE TABLE service_leases (
    dataset text PRIMARY KEY,
    coordinator bigint NOT NULL,
    token bigint NOT NULL
);
INSERT INTO service_leases VALUES ('', 0, 0);
INSERT INTO service_leases SELECT name, 0, 0 FROM service_datasets;
ALTER TABLE service_jobs ADD COLUMN dataset text NOT NULL DEFAULT '';
