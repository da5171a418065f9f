"""Every paper's objectives on one captioner: no paper, but made like one."""
