"""Force laws."""
