"""The rehearsal agent, and tools for adapter authors: model servers, cassettes, conformance scenarios."""
