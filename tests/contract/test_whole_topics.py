"""A wish to forget all about a topic, as a worker does it on its stores."""

from __future__ import annotations

from tests.contract.pipeline import EVERYTHING, Worker, on_every_store, only
from tests.turns import subject

pytest_generate_tests = on_every_store


def test_a_wish_that_names_a_topic_as_a_whole_takes_what_has_none_of_its_words(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I'm a nurse at Kestrel Clinic.", "My boss is called Sheila Crane.", "I have a koi pond.")
    worker.hear(anna, "Forget everything about my job.", first=3)
    whose = subject(anna)
    assert "koi" in only(worker.known(whose, *EVERYTHING)).summary
    assert "Kestrel" not in worker.everywhere(whose)


def test_a_wish_that_is_said_again_of_it_all_takes_no_more_than_it_names(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My son Theo is four.", "I design shoes.")
    worker.hear(anna, "Nothing about my children should be in there. Please remove it all.", first=2)
    assert "shoes" in only(worker.known(subject(anna))).summary


def test_all_about_somebody_at_work_is_not_all_about_work(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My boss Mr Agyeman drinks at work. I run payroll at the port.")
    worker.hear(anna, "I was angry yesterday. Anything about my boss should be gone, please.", first=1)
    assert [memory.summary for memory in worker.known(subject(anna))] == [f"{anna.title()} runs payroll at the port."]
