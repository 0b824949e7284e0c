"""How the steps of a run are done."""
