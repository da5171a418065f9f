"""Results of all papers come in; the first page, all pages as one file, and the files about all papers go out. It knows
no paper but by what its results say, and nothing is computed anew: `report` has judged each paper.

May import the rooms up to `report`.
"""
