"""The command line. It shows and asks; what Podium does stands below it."""
