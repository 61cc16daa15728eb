"""What makes two texts the same: normalising, quotes, similarity, keys, markers, redaction."""
