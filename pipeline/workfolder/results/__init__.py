"""The one way to read a finished run, whichever engine made it."""
