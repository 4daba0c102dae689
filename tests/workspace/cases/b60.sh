#!/usr/bin/env bash
# case B60  layer: checkpoint
# fault: Each checkpoint hashes the whole tree with a fresh index: fixed timeout hit on every turn, CPU burnt, tmp packs and temp indexes littered.
# right: First snapshot may be slow but does not block the turn; later ones scale with changed files; timeout backs off and disables with a visible notice; temp index/pack files removed, also after a kill.
# contract: CKPT="<command>" bash B60.sh      exit 0 = right, 1 = fault shown, 77 = cannot run here
#   $CKPT save REPO          prints an id for the state now
#   $CKPT turn REPO SCRIPT   runs SCRIPT (cwd REPO) as one agent turn, prints the id of the state before it
#   $CKPT restore REPO ID    takes the agent's changes since ID back; non-zero = refused
set -u; : "${CKPT:?set CKPT}"
W=$(mktemp -d); trap 'chmod -R u+w "$W" 2>/dev/null; rm -rf "$W"' EXIT
bad=0; say(){ echo "FAULT: $*"; bad=1; }
same(){ [ "$(cat "$1" 2>/dev/null)" = "$2" ] || say "$1: want '$2', have '$(cat "$1" 2>/dev/null)'"; }
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE; export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL="$W/gc"; : > "$W/gc"
git config --file "$W/gc" user.name t; git config --file "$W/gc" user.email t@example.invalid; git config --file "$W/gc" init.defaultBranch main
R="$W/repo"; mkdir "$R"; cd "$R"
turn(){ printf '%s\n' "$1" > "$W/agent.sh"; $CKPT turn "$R" "$W/agent.sh" | tail -n 1; }
N=${N:-600}; KB=${KB:-15}; git init -q .; python3 -c "
import os
for i in range($N):
    d='d%d'%(i//100); os.makedirs(d,exist_ok=True); open('%s/f%d'%(d,i),'w').write(('line %d\\n'%i)*(102*$KB//1))"; git config gc.auto 0; git add .; git commit -qm base
now(){ python3 -c 'import time;print(int(time.time()*1000))'; }
a0=$(now); GIT_INDEX_FILE="$W/ix" git read-tree HEAD; GIT_INDEX_FILE="$W/ix" git add -A .; a1=$(now); full=$((a1-a0)); a0=$(now); git --no-optional-locks status --porcelain >/dev/null; a1=$(now); stat=$((a1-a0))
turn 'printf x >> d0/f0' >/dev/null; turn 'printf x >> d0/f1' >/dev/null; t2=$(now); turn 'printf x >> d0/f2' >/dev/null; t3=$(now); one=$((t3-t2))
echo "ms: whole-tree hash $full, stat pass $stat, third turn (two snapshots) $one"
# The times are told, not judged: that only changed files are read is a test of its own.
left=$(find .git -name 'tmp_*' -o -name '*.lock'); [ -z "$left" ] || say "litter: $left"; exit $bad
