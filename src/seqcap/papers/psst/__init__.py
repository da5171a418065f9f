"""Cooperative captioning with partial-sampling straight-through (Vered et al., ICCV 2019)."""
