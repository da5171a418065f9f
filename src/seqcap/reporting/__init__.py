"""Published numbers, and ours beside them: tables, figures, claims and the report. Nothing here needs torch."""
