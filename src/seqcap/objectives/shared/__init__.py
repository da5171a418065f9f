"""What several objectives share; no objective itself."""
