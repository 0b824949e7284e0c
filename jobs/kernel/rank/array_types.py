"""Types of arrays that several modules of ranking share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]  # of nodes, edges or bytes in an array
