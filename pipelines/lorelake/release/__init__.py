"""Stage 6: build, audit, publish and verify releases."""
