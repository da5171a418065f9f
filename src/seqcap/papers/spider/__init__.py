"""Policy gradient optimization of SPIDEr (Liu et al., ICCV 2017)."""
