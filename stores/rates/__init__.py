"""How often somebody may do something: buckets of tokens that the whole service shares."""

from stores.rates.buckets import Taken, TokenBuckets

__all__ = ["Taken", "TokenBuckets"]
