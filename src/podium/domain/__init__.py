"""The pure core: entities, events, and the two functions decide and evolve. No I/O, no clock, no chance."""
