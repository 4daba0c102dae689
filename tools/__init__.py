"""What keeps the project itself in order: guards, the ledger of behaviours, measurements."""
