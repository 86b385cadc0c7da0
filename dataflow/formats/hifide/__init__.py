"""The format of HiFide: flows of HiFide, in JSON."""
