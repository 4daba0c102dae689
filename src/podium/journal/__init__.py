"""The only writer of durable state: events, projections, receipts, adapter state, read offsets, sends."""
