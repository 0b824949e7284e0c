"""Known faults, one line each, that tests have to see: what a test that finds nothing is worth.

    PYTHONPATH=scripts python -m mutants
    PYTHONPATH=scripts python -m mutants --only sweep-forgets-damping --whole

A test that was never seen to fail may check nothing. Each edit here puts a realistic fault into one
line of jobs/ or pipeline/, in a copy of the tree, and the tests that should see it run there.
"""
