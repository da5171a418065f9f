"""The rating kit: a page that people judge captions on, and what their answers say.

Two tasks (Vered et al., ICCV 2019, table 5). *Accuracy*: a caption and two pictures, its own and a similar one; which
does it mean? *Naturalness*: two captions; which is better English? `page` writes the page and the key to its answers,
`aggregate` reads the answers.
"""
