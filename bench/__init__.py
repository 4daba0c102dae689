"""What users wait for, measured on a real server beside a bare pipe: `python -m bench`, docs/bench.md."""
