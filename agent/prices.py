"""What a model's tokens cost (pure): the price list is the configuration's, nothing is looked up anywhere."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens. `cached` (read from the provider's cache) and `cache_write`: None: as `input`."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None

    def micros(
        self, *, input_tokens: int, output_tokens: int, cached_tokens: int, written_tokens: int
    ) -> int | None:
        """The cost in millionths of a dollar; None if there is a price and the provider named no tokens.

        `input_tokens` are all, those read from the cache and written to it included.
        """
        if not input_tokens and not output_tokens and (self.input or self.output):
            return None
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.cache_write is None else self.cache_write
        plain_tokens = max(0, input_tokens - cached_tokens - written_tokens)
        return round(
            plain_tokens * self.input
            + cached_tokens * cached
            + written_tokens * written
            + output_tokens * self.output
        )


FREE = Price(input=0.0, output=0.0)
