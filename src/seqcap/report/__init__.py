"""A paper's facts and its runs' scores come in; tables, figures, judged claims and the paper's page go out. Imports no
paper.

May import the rooms up to `evaluation`. Nothing here needs torch.
"""

from pathlib import Path

REPORTS = Path("reports")
