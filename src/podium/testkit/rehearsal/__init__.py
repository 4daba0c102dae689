"""The rehearsal agent: no model, no account, no network; it plays what a prompt names.

It speaks the Agent Client Protocol, version 1 (JSON-RPC, one object a line), on stdin and stdout. It has two
faces. As the scripted agent a prompt is the name of a play (`help` lists them) or a JSON script
`{"play": [{"do": "say", "text": "hi"}, ...]}`. With `--rehearsal` a prompt is what a newcomer writes, read by
the rules of `phrases`. Edits and commands are real and stay in the workspace.

It keeps its conversations under `SCRIPTED_HOME`, and logs every prompt, answer and cancel it received to
`prompts.jsonl` there, so that a test can count what really arrived. Standard library
only: it is a program that knows nothing of Podium.
"""
