"""The made-up claim."""

from seqcap.report.claims import Claim, Printed

CLAIMS = [
    Claim(
        number="M1",
        text="New beats Old",
        metric="CIDEr",
        decoder="beam",
        captions="best",
        left="made_up_sll",
        right="made_up_xe",
        direction=+1,
        printed=Printed("made_up", "table1", "CIDEr", ("New", "Old")),
    )
]
