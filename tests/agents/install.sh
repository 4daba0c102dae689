#!/usr/bin/env bash
# Installs the pinned agents: package-lock.json into tests/agents/node_modules, requirements/vibe.txt into .cache/vibe,
# and nothing anywhere else. No installer of a package runs: some would write to HOME. Installers that read HOME
# get one inside the checkout; the person's npm settings still hold.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=$root/.cache
home=$cache/agents-home

for tool in node npm; do
    if ! command -v "$tool" >/dev/null; then
        echo "make agents: $tool is not on PATH; install Node.js 20 or newer" >&2
        exit 1
    fi
done

mkdir -p "$home"
export NPM_CONFIG_USERCONFIG="${NPM_CONFIG_USERCONFIG:-$HOME/.npmrc}"
person=$HOME
export HOME="$home" XDG_CACHE_HOME="$cache" NPM_CONFIG_CACHE="$cache/npm"

from_npm() {
    local lock=$here/package-lock.json stamp=$here/node_modules/.podium-installed packed
    if [ -f "$stamp" ] && cmp -s "$stamp" "$lock"; then
        return
    fi
    cd "$here"
    # package.json overrides the platform packages of a clipboard that were never published: a lock without them
    # would be refused.
    npm ci --ignore-scripts --loglevel=error
    # One program comes compressed, and its installer would unpack it below HOME: here it is unpacked where it lies.
    for packed in "$here"/node_modules/@xai-official/grok-*/bin/grok.br; do
        [ -f "$packed" ] || continue
        node -e '
            const fs = require("fs"), zlib = require("zlib"), [from, to] = process.argv.slice(1);
            fs.writeFileSync(to, zlib.brotliDecompressSync(fs.readFileSync(from)), { mode: 0o755 });
        ' "$packed" "${packed%.br}"
        rm "$packed"
    done
    cp "$lock" "$stamp"
}

# A Python of at least 3.12: the one of PODIUM_PYTHON312, one on PATH, or one that pyenv keeps.
newer_python() {
    local candidate
    for candidate in "${PODIUM_PYTHON312:-}" python3.12 python3.13 python3 \
        "${PYENV_ROOT:-$person/.pyenv}"/versions/3.1[23].*/bin/python; do
        if [ -n "$candidate" ] && command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(not (3, 12) <= sys.version_info < (3, 14))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    echo "make agents: one agent needs Python 3.12 or 3.13; install one, or name it in PODIUM_PYTHON312" >&2
    return 1
}

from_pypi() {
    local lock=$root/requirements/vibe.txt place=$cache/vibe python
    if [ -f "$place/.podium-installed" ] && cmp -s "$place/.podium-installed" "$lock"; then
        return
    fi
    python=$(newer_python)
    rm -rf "$place"
    "$python" -m venv "$place"
    # The lock is whole, so nothing is resolved here.
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock"
    cp "$lock" "$place/.podium-installed"
}

from_npm
from_pypi
