"""What tests share. As in the command itself, libraries start no threads when they are loaded:
those of OpenBLAS would spin while other tests run."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
for name in ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "VENV"):  # of a make around the tests
    os.environ.pop(name, None)
