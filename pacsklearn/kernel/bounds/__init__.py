"""Pure functions on arrays that bound what a release reveals. All information is in nats."""
