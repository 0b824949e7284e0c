"""The options and arguments of commands: their types, and what several commands share."""
