-- How long a lease lasts after it was held longer, for who waits for its end.
ALTER TABLE service_coordinators ADD COLUMN seconds double precision NOT NULL DEFAULT 3;
