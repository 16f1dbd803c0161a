"""Whether work grows in proportion to its text: a ratio, for seconds belong to the machine they are counted on."""

import time
from collections.abc import Callable

# Four times the text is four times the work where the work is linear and sixteen times where it is quadratic.
_TIMES_LONGER = 4
_MOST_WORK = 9
# Below this a measurement is noise, and nobody waits for it.
_NOISE_SECONDS = 0.01
_ATTEMPTS = 3
# What a text ends with may ask for one more look at all of it: where pieces are taken three by three, one is left over.
_ENDS = (0, 1, 2)


def assert_grows_linearly(work: Callable[[str], object], piece: str, most_bytes: int) -> None:
    """Assert that *work* on *piece*, repeated to *most_bytes*, takes at most nine times that on a quarter of it, the
    costliest of three that end elsewhere.

    CPU time of this process is compared, and anew up to three times: a busy machine disturbs one measurement, and
    quadratic work shows in each.
    """
    pieces = most_bytes // len(piece.encode())
    quarters = [piece * max(1, pieces // _TIMES_LONGER - fewer) for fewer in _ENDS]
    ratios = []
    for _ in range(_ATTEMPTS):
        whole, quarter = _cpu_seconds(work, piece * pieces), _NOISE_SECONDS
        for text in quarters:
            quarter = max(quarter, _cpu_seconds(work, text))
            # One end that is costly enough is enough: others could only be compared more kindly.
            if whole <= _MOST_WORK * quarter:
                return
        ratios.append(whole / quarter)
    raise AssertionError(f"four times {piece!r} is {min(ratios):.0f} times the work")


def _cpu_seconds(work: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    work(text)
    return time.process_time() - began
