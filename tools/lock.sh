#!/usr/bin/env bash
# Resolves the locks from pyproject.toml for every platform, with hashes and without the name of any index.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
options=(--quiet --universal --generate-hashes --no-emit-index-url --no-annotate
    --custom-compile-command "make lock")
ours=("${options[@]}" --python-version 3.11)

.venv/bin/uv pip compile pyproject.toml --group build "${ours[@]}" "$@" -o requirements/run.txt
.venv/bin/uv pip compile pyproject.toml --group build --group dev --constraint requirements/run.txt \
    "${ours[@]}" "$@" -o requirements/dev.txt
# An agent that the tests drive, in an environment of its own.
.venv/bin/uv pip compile requirements/vibe.in "${options[@]}" --python-version 3.12 "$@" -o requirements/vibe.txt
