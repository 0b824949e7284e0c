#!/bin/sh
# The node's own Python @PYTHON@ with the libraries packed beside this script.
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd) || exit
for python in "${CRAWLRANK_PYTHON:-}" python@PYTHON@ /usr/local/bin/python@PYTHON@ /usr/bin/python@PYTHON@; do
  if [ -n "$python" ] && command -v "$python" >/dev/null; then
    PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}$here/lib"
    PYTHONNOUSERSITE=1
    export PYTHONPATH PYTHONNOUSERSITE
    exec "$python" "$@"
  fi
done
echo "crawlrank: no python@PYTHON@ on this node; install it, name one in CRAWLRANK_PYTHON," \
  "or make the package for the node's version (crawlrank package --python)" >&2
exit 127
