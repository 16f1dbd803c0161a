"""Rate limits: buckets of tokens that the whole service shares."""

from stores.rates.buckets import Taken, TokenBuckets

__all__ = ["Taken", "TokenBuckets"]
