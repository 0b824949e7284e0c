#!/bin/bash
# A bootstrap action of EMR: Python @PYTHON@ and the pinned wheels on every node.
#   bootstrap.sh s3://BUCKET/PREFIX [FOLDER]    where `crawlrank package --upload` has put them
set -euo pipefail
home=${2:-/opt/crawlrank}
sudo dnf install --quiet --assumeyes python@PYTHON@ python@PYTHON@-pip
wheels=$(mktemp -d)
aws s3 cp --recursive --only-show-errors "$1/wheels/" "$wheels"
sudo python@PYTHON@ -m venv "$home"
sudo "$home/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
  --require-hashes --find-links "$wheels" --requirement "$wheels/requirements.txt"
rm -r "$wheels"
