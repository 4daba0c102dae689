"""Bytes to frames and back: lines, the JSON codec, masking, process launch and the link to a keeper."""
