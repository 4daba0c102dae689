"""The shell around the pure core: engine, supervisors, live feed. Everything that waits lives here."""
