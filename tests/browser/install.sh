#!/usr/bin/env bash
# Installs the distribution's Chromium for the browser tests. Nothing is fetched from a browser vendor.
set -euo pipefail

if command -v chromium >/dev/null; then
    chromium --version
    exit 0
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
    run=(sudo)
fi
"${run[@]}" apt-get update
"${run[@]}" apt-get install -y --no-install-recommends chromium fonts-dejavu-core
chromium --version
