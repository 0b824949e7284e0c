"""What tests share. As in the command itself, libraries start no threads when they are loaded:
those of OpenBLAS would spin while other tests run."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
