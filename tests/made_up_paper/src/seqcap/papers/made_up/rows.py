"""Which run is which row."""

ROWS = {"table1": {"Old": ("made_up_xe", "beam"), "New": ("made_up_sll", "beam")}}
