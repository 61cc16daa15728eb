"""Stage 3: signals with verified quotes, admission gates, exposures."""
