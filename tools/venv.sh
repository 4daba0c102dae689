#!/usr/bin/env bash
# Usage: tools/venv.sh PYTHON LOCK. Makes .venv if need be, installs the lock with its hashes, then the project itself.
set -euo pipefail

python=$1 lock=$2
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "Podium needs Python 3.11 or newer; $python is $("$python" --version 2>&1). Try: make PYTHON=python3.12" >&2
    exit 1
fi
if [ ! -x .venv/bin/python ]; then
    "$python" -m venv .venv || {
        echo "$python cannot make a virtual environment; install its venv module" >&2
        exit 1
    }
fi
.venv/bin/python -m pip install --quiet --require-hashes -r "$lock"
.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
