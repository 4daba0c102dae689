"""The library over a server: `podium.connect(url, token)` has the interface of `podium.open()` (R12)."""
