-- Tables of the service, beside those of the ledgers; what is private in them is sealed. The names
-- of types are PostgreSQL's; SQLite takes them for affinities and keeps bytes as they are.
CREATE TABLE service_leases (
    name text PRIMARY KEY,
    holder text NOT NULL,
    token bigint NOT NULL,
    until double precision NOT NULL
);
INSERT INTO service_leases VALUES ('coordinator', '', 0, 0);
CREATE TABLE service_datasets (
    name text PRIMARY KEY,
    facts text NOT NULL,
    rows bytea NOT NULL,
    created text NOT NULL
);
CREATE TABLE service_models (
    name text PRIMARY KEY,
    dataset text NOT NULL,
    status text NOT NULL,
    facts text NOT NULL,
    state bytea,
    created text NOT NULL
);
-- One row a model: what is about to be charged, and what all answers so far have left.
CREATE TABLE service_progress (
    model text PRIMARY KEY,
    intent bytea,
    learned bytea
);
CREATE TABLE service_answers (
    model text NOT NULL,
    name bytea NOT NULL,
    answer bytea NOT NULL,
    PRIMARY KEY (model, name)
);
-- Names here are each user's own, so that two users' rows cannot be compared.
CREATE TABLE service_paid (
    model text NOT NULL,
    "user" text NOT NULL,
    name bytea NOT NULL,
    PRIMARY KEY (model, "user", name)
);
CREATE TABLE service_requests (
    model text NOT NULL,
    "user" text NOT NULL,
    key text NOT NULL,
    body bytea NOT NULL,
    reply bytea NOT NULL,
    created double precision NOT NULL,
    PRIMARY KEY (model, "user", key)
);
CREATE TABLE service_users (
    kind text NOT NULL,
    name text NOT NULL,
    facts text NOT NULL,
    PRIMARY KEY (kind, name)
);
-- A user's reservations are accounts within the user's own, which has none.
CREATE TABLE service_accounts (
    dataset text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    reservation text NOT NULL,
    ceiling double precision NOT NULL,
    spent text NOT NULL,
    note text NOT NULL,
    created double precision NOT NULL,
    expires double precision NOT NULL,
    PRIMARY KEY (dataset, kind, name, reservation)
);
CREATE TABLE service_keys (
    id text PRIMARY KEY,
    facts bytea NOT NULL
);
CREATE TABLE service_jobs (
    id text PRIMARY KEY,
    kind text NOT NULL,
    "user" text NOT NULL,
    project text,
    status text NOT NULL,
    done bigint NOT NULL,
    total bigint NOT NULL,
    content bytea NOT NULL,
    created double precision NOT NULL
);
CREATE TABLE service_audit (
    sequence bigint PRIMARY KEY,
    time text NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    object text NOT NULL,
    outcome text NOT NULL,
    hash text NOT NULL
);
