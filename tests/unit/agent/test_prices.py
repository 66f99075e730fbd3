"""What tokens cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from agent.events import Usage
from agent.history import usage_of
from agent.prices import FREE, Price

pytestmark = pytest.mark.req("AGT-7")

DEAR = Price(input=3.0, output=15.0, cached=0.3, cache_write=3.75)
COUNTS = st.integers(0, 10_000_000)


def answer(**used: int) -> ModelResponse:
    return ModelResponse(parts=[TextPart(content="x")], usage=RequestUsage(**used))


@pytest.mark.parametrize(
    ("price", "used", "micros"),
    [
        (DEAR, {"input_tokens": 1_000_000}, 3_000_000),
        (DEAR, {"output_tokens": 1_000_000}, 15_000_000),
        (DEAR, {"input_tokens": 1_000, "cache_read_tokens": 900, "output_tokens": 10}, 300 + 270 + 150),
        (DEAR, {"input_tokens": 1_000, "cache_write_tokens": 1_000}, 3_750),
        (Price(input=2.0, output=0.0), {"input_tokens": 100, "cache_read_tokens": 50}, 200),
        (FREE, {"input_tokens": 5, "output_tokens": 7}, 0),
        (FREE, {}, 0),
        (DEAR, {}, None),
        (None, {"input_tokens": 5}, None),
    ],
)
def test_an_answer_costs_its_tokens_and_an_unknown_price_is_no_zero(
    price: Price | None, used: dict[str, int], micros: int | None
) -> None:
    assert usage_of(answer(**used), price).usd_micros == micros


@given(st.lists(st.tuples(COUNTS, COUNTS, st.none() | COUNTS), max_size=8))
def test_usage_adds_up_and_one_unknown_price_makes_the_sum_unknown(
    parts: list[tuple[int, int, int | None]],
) -> None:
    each = [Usage(requests=1, input_tokens=a, output_tokens=b, usd_micros=usd) for a, b, usd in parts]
    known = [usd for _, _, usd in parts if usd is not None]

    assert sum(each, Usage()) == Usage(
        requests=len(parts),
        input_tokens=sum(a for a, _, _ in parts),
        output_tokens=sum(b for _, b, _ in parts),
        usd_micros=sum(known) if len(known) == len(parts) else None,
    )
