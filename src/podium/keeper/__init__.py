"""The keeper: a process of its own that owns one agent process and its pipes (rule R3).

`keeper.py` is run as a script and imports nothing of Podium; start it through `podium.transport.launch`.
"""
