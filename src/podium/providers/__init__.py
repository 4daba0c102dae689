"""Adapters, one package each. Imports contract and transport.codec only."""
