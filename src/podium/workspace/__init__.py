"""The user's files under git: captures, whose change it is, diffs, safe restore, worktrees (R11).

Nothing here touches the user's index, HEAD, branches, stashes, reflogs, hooks, ignored files or locks.
"""
