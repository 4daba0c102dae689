"""A mode that promises to hold an agent back is never accepted and then ignored (test H of the field)."""

from __future__ import annotations

import pytest

from podium.contract.errors import Refused
from tests.runtime.house import House, ran
from tests.runtime.test_interrupt import shapes

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", ["read", "ask", "edit"])
async def test_what_holds_nobody_takes_no_prompt_in_a_mode_that_should_hold(house: House, mode: str) -> None:
    async with house.open(registry=shapes(house)) as p:
        thread = await house.thread(p, "shot", mode=mode)
        with pytest.raises(Refused) as refused:
            await thread.post("slow 1")
        assert refused.value.code == "capability_missing" and refused.value.fix
        assert refused.value.detail["capability"] == "approvals.native_requests"
        assert refused.value.detail["reason"]
        assert house.prompts() == [] and not thread.entities("run")
        offered = (await thread.snapshot()).affordances.message
        assert offered.means == "none" and offered.auto.capability == "approvals.native_requests"


async def test_in_the_mode_full_it_works(house: House) -> None:
    async with house.open(registry=shapes(house)) as p:
        thread = await house.thread(p, "shot", mode="full")
        assert (await ran(thread, "slow 0")).outcome == "completed"
