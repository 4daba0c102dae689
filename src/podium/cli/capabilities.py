"""`podium capabilities`: what an agent can do on its installed version, and what happens where it cannot."""

from __future__ import annotations

from podium.cli.printing import say, say_json, table


def capabilities(agent: str | None = None, /, *, json: bool = False) -> int:
    """Show an agent's effective capabilities, each with its proof.

    Parameters
    ----------
    agent
        The agent; by default the one `podium run` would take.
    json
        Print one leaf or feature a line, as JSON.
    """
    import anyio

    from podium.cli.agents import open_registry
    from podium.runtime.capabilityrows import feature_rows, leaf_rows
    from podium.runtime.incoming import working_folder

    registry = open_registry()
    instance = registry.instance(agent or registry.default())
    probe = anyio.run(registry.probe, instance)
    policy = registry.settings.policy(str(working_folder()))
    record = registry.effective(instance, probe.version, strict=policy.strict)
    leaves, features = leaf_rows(record), feature_rows(record, policy)
    if json:
        head = {
            "kind": "record", "agent": instance.id, "agent_kind": instance.kind, "version": probe.version,
            "schema_version": record.schema_version,
        }  # fmt: skip
        say_json([head, *leaves, *features])
        return 0
    say(f"{instance.id}  version {probe.version or 'unknown'}\n\n")
    say(
        table(
            ("capability", "value", "proof", "standing", "reason"),
            [(r["leaf"], r["word"], r["evidence"] or "", r["standing"], r["reason"]) for r in leaves],
            fold=4,
        )
    )
    say("\n")
    say(
        table(
            ("feature", "outcome", "decided by", "policy", "consequence"),
            [(f["feature"], f["outcome"], f["capability"], f["policy"], f["consequence"]) for f in features],
            fold=4,
        )
    )
    return 0
