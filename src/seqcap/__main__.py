"""`python -m seqcap`."""

from seqcap.cli import main

main()
