"""Makes this folder a site's: its .pth files count, as setuptools' for `import distutils`."""

import site
from pathlib import Path

site.addsitedir(str(Path(__file__).parent))
