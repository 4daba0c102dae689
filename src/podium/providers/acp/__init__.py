"""The adapter for agents that speak the Agent Client Protocol, version 1, over stdio.

`adapter` drives any of them: it is told the program and its arguments, and takes the rest from the handshake.
`copilot`, `gemini`, `grok`, `qwen` and `vibe` are the same adapter with what is known of those agents.
"""

from __future__ import annotations

from podium.providers.acp.adapter import AcpAdapter
from podium.providers.acp.claims import GENERAL_CLAIMS, GROK_CLAIMS, VIBE_CLAIMS
from podium.providers.acp.copilot import COPILOT, COPILOT_CLAIMS, COPILOT_PROGRAM
from podium.providers.acp.flavours import GENERAL, GROK, VIBE
from podium.providers.acp.gemini import GEMINI, GEMINI_CLAIMS, GEMINI_PROGRAM
from podium.providers.acp.programs import GENERAL_PROGRAM, GROK_PROGRAM, VIBE_PROGRAM
from podium.providers.acp.qwen import QWEN, QWEN_CLAIMS, QWEN_PROGRAM

adapter = AcpAdapter(GENERAL, GENERAL_PROGRAM, GENERAL_CLAIMS, name="acp")
"""Any agent that speaks the protocol."""

copilot = AcpAdapter(COPILOT, COPILOT_PROGRAM, COPILOT_CLAIMS)
"""Copilot CLI."""

gemini = AcpAdapter(GEMINI, GEMINI_PROGRAM, GEMINI_CLAIMS)
"""Gemini CLI."""

grok = AcpAdapter(GROK, GROK_PROGRAM, GROK_CLAIMS)
"""Grok."""

qwen = AcpAdapter(QWEN, QWEN_PROGRAM, QWEN_CLAIMS)
"""Qwen Code."""

vibe = AcpAdapter(VIBE, VIBE_PROGRAM, VIBE_CLAIMS)
"""Mistral Vibe."""

__all__ = ["AcpAdapter", "adapter", "copilot", "gemini", "grok", "qwen", "vibe"]
