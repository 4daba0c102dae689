"""Proof of what an agent is said to do: scenarios in product terms, run on the real program.

A scenario names the leaves it proves. It is run on the agent, where each must be shown, and on a saboteur, an
agent without exactly that leaf, where it must not be. What passes on both proves nothing.
"""
