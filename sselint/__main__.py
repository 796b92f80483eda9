"""`python -m sselint`."""

from sselint.cli import main

if __name__ == "__main__":
    main()
