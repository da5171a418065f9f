"""Token-level and sequence-level loss smoothing (Elbayad et al., ACL 2018)."""
