"""Which work folder owns the folder of data at a URL. No other work folder overwrites it."""

from __future__ import annotations

import json
import secrets

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage import stores
from crawlrank.pipeline.workfolder.manifest import Manifest

MARK = "crawlrank.json"


def claim(data: str, manifest: Manifest) -> None:
    """Make the folder the work folder's own. Raises BadInput where it is another's, or holds what
    nobody has claimed."""
    own = manifest.claims.get(data)
    mark = stores.join(data, MARK)
    try:
        claimed = stores.read(mark)
        if own and claimed and json.loads(claimed)["work"] == own:
            return
        if claimed or stores.folders(data):
            whose = "another work folder's" if claimed else "nobody's, and not empty"
            cure = "Name another folder with --data, or remove this one."
            raise BadInput(data, f"is {whose}", "a new folder, or this work folder's own", cure)
        manifest.claims[data] = own = secrets.token_hex(8)
        manifest.save()
        stores.write(mark, json.dumps({"work": own}).encode())
    except OSError as error:
        raise BadInput(
            data, f"cannot be used ({error})", "a folder that can be written",
            "Look at the URL and at what tells where its store is (HADOOP_CONF_DIR, AWS_REGION).",
        ) from error  # fmt: skip
