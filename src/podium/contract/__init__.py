"""The seam between Podium and coding agents, usable alone as a library: plain data, no I/O."""
