"""The HTTP face: REST, one event stream for each client, the page. Started by `podium serve`."""
