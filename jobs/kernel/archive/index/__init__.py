"""Indexes of captures, CDX and CDXJ, read as archives without bodies."""
