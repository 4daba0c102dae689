"""`python -m podium` is `podium`."""

from podium.cli.app import main

if __name__ == "__main__":
    main()
