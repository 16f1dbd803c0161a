"""Breaks a promise of the product on purpose, one at a time, in a copy of it, and sees the tests fail.

A mutation that no test notices is a promise that nobody keeps watch over: `make canary` names it and fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

ROOT = Path(__file__).parents[2]
_SECONDS = 300
_WAIT_SECONDS = 40
"""How long a test of the fleet waits for what a mutation may keep from coming."""


@dataclass(frozen=True)
class Mutation:
    """One text of a file in the place of another, and the tests that must notice."""

    name: str
    file: str
    before: str
    after: str
    tests: Sequence[str]


MUTATIONS = (
    Mutation(
        "no write-ahead: a turn is only in its message",
        "producers/broker.py",
        "return self._mailbox.append(turn, self._look_after, quota)",
        "from stores.mailbox import Appended, Receipt\n        return Receipt(Appended.ADDED, notify=True, pending=0)",
        ("tests/fleet/test_deaths.py", "-k", "messages_were_lost"),
    ),
    Mutation(
        "no ledger: a turn that comes again is processed again",
        "worker/pipeline.py",
        "if turn.turn_id in before.processed or any(",
        "if any(",
        ("tests/contract/test_pipeline_failures.py", "-k", "crash_between_the_catalogs_commit"),
    ),
    Mutation(
        "no fence: a worker that lost its lease may write",
        "stores/catalog/writing.py",
        "where=there.fence <= statement.excluded.fence if fenced else None,",
        "",
        ("tests/contract/test_catalog.py", "tests/contract/test_pipeline_failures.py", "-k", "refused or taken_over"),
    ),
    Mutation(
        "no lease: two workers may hold a subject",
        "stores/mailbox/lua/acquire.lua",
        "if redis.call('EXISTS', lease) == 1 then return {'leased', '', ''} end",
        "",
        ("tests/unit/test_mailbox.py",),
    ),
    Mutation(
        "no token: whoever had the lease may drop turns",
        "stores/mailbox/lua/commit.lua",
        "if redis.call('GET', lease) ~= token then return {'lost', '', ''} end",
        "",
        ("tests/unit/test_mailbox.py",),
    ),
    Mutation(
        "no order: the newest turn is taken first",
        "stores/mailbox/lua/append.lua",
        "redis.call('RPUSH', order, turn_id)",
        "redis.call('LPUSH', order, turn_id)",
        ("tests/unit/test_mailbox.py",),
    ),
    Mutation(
        "a turn of a clock that is ahead outlasts all that is said after it",
        "worker/pipeline.py",
        "    if item.said_at is None or item.said_at <= arrived_at:\n",
        "    if True:\n",
        ("tests/contract/test_order_of_truth.py",),
    ),
    Mutation(
        "words in the first person behind anybody's colon are the user's own",
        "policies/language/reported_speech.py",
        "        elif (begin := _doubtful_from(spoken)) is not None:\n",
        "        elif (begin := None) is not None:\n",
        ("tests/unit/policies/test_reported_speech.py",),
    ),
    Mutation(
        "what hangs on another's verb of saying is the user's own",
        "worker/extract/statement.py",
        " or (u.part is not None and is_told_by_another(u.part))",
        "",
        ("tests/contract/test_others_words.py",),
    ),
    Mutation(
        "a secret that its summary does not call one is kept",
        "memory/screening.py",
        "        elif any(secret in kept.summary.lower() for secret in hidden[item.turn_id]):\n",
        "        elif False:\n",
        ("tests/unit/test_screening.py",),
    ),
    Mutation(
        "turns are blamed for tables that are not as they were made",
        "stores/machine.py",
        "in _NOT_AS_MADE:",
        "in ():",
        ("tests/contract/test_damaged_catalog.py", "-k", "not_as_they_were_made"),
    ),
    Mutation(
        "no quota of turns: one user may send without end",
        "stores/mailbox/lua/append.lua",
        "if is_full(user_minute, user_quota) then return refuse('user', user_minute) end",
        "",
        ("tests/contract/test_quotas.py",),
    ),
    Mutation(
        "no quota of memories: one user may fill the catalog",
        "memory/resolve.py",
        "case DecisionAction.CREATE | DecisionAction.CHECK if draft.is_full:",
        "case DecisionAction.CREATE | DecisionAction.CHECK if False:",
        ("tests/contract/test_quotas.py",),
    ),
    Mutation(
        "no mask of others' names in what is stated outright",
        "memory/statement_screening.py",
        "    return masked.kept\n",
        "    return claim\n",
        ("tests/contract/test_others_sensitive_data.py",),
    ),
    Mutation(
        "no look at the key again: a stream outlives it",
        "interfaces/http/events.py",
        "if await asyncio.to_thread(renewing) != listener:",
        "if False:",
        ("tests/e2e/test_http.py", "-k", "revoked"),
    ),
    Mutation(
        "no lock on a webhook's secrets: of two rotations one is lost",
        "stores/catalog/webhooks.py",
        "query.with_for_update() if to_change else query",
        "query",
        ("tests/contract/test_races.py", "-k", "rotate"),
    ),
    Mutation(
        "no bound on a worker's memory",
        "worker/memory_bound.py",
        "elif used > self._bound and not self._is_ending:",
        "elif False:",
        ("tests/unit/test_memory_bound.py",),
    ),
    Mutation(
        "two workers plan for one subject at a time",
        "worker/nights/subject_run.py",
        "        if lock is None:\n            raise Busy\n",
        "",
        ("tests/contract/test_night_runs.py",),
    ),
    Mutation(
        "no look for what the index lost",
        "memory/agreement.py",
        "        queue_again(disagreeing, context, now)\n        lost",
        "        lost",
        ("tests/contract/test_lost_index.py",),
    ),
    Mutation(
        "no deletion of what was only noted and is taken back",
        "memory/forget.py",
        "if memory.status is Status.PROVISIONAL:",
        "if False:",
        ("tests/contract/test_hot_path.py", "-k", "takes_it_back"),
    ),
    Mutation(
        "no memory of what was dropped: a late message is work again",
        "stores/mailbox/lua/append.lua",
        "if seen then return answer(seen == digest and 'done' or 'conflict') end",
        "",
        ("tests/unit/test_mailbox.py",),
    ),
    Mutation(
        "no slots: a tenant's backlog fills the queue",
        "stores/mailbox/lua/common.lua",
        "if not has_slot and redis.call('ZCARD', slots) >= slots_per_tenant then",
        "if false then",
        ("tests/unit/test_mailbox_slots.py",),
    ),
    Mutation(
        "no sweep: nobody looks for what was lost",
        "stores/mailbox/lua/due.lua",
        "if take_slot(due, now + notified_us) then table.insert(found, due) end",
        "",
        ("tests/unit/test_mailbox_slots.py",),
    ),
    Mutation(
        "no dedup: every candidate is a new memory",
        "policies/dedup.py",
        "    same = [j for j in judged if j.verdict is SameFact.SAME]\n",
        "    return Decision(action=DecisionAction.CREATE, reason='mutated')\n"
        "    same = [j for j in judged if j.verdict is SameFact.SAME]\n",
        ("tests/contract/test_pipeline.py",),
    ),
    Mutation(
        "no catching up: what the index was not told of is not compared",
        "memory/scoring.py",
        "draft.vectors.update(zip((memory.id for memory in unindexed), vectors[len(items) :], strict=True))",
        "pass",
        ("tests/contract/test_pipeline_failures.py", "-k", "between_commit_and_index"),
    ),
    Mutation(
        "no count of deliveries: a turn may kill workers for ever",
        "worker/drain.py",
        "if parked.deliveries > context.settings.max_deliveries:",
        "if False:",
        ("tests/contract/test_pipeline_failures.py", "-k", "keep_dying"),
    ),
    Mutation(
        "no suspects: a turn that kills takes its neighbours with it",
        "worker/suspects.py",
        "    if most < _SUSPECTED_AT - 1:\n",
        "    if True:\n",
        ("tests/fleet/test_poison.py",),
    ),
    Mutation(
        "no masks beside the summary: a field keeps what was masked there",
        "memory/screening.py",
        "is_masked = text in candidate.summary and text not in screening.text",
        "is_masked = False",
        ("tests/unit/test_screening.py", "-k", "short_groups"),
    ),
    Mutation(
        "no second look: a planted order is told by its words alone",
        "memory/planted_orders.py",
        "if embedder.name != EMBEDDER:",
        "if embedder.name:",
        ("tests/contract/test_planted_orders.py",),
    ),
    Mutation(
        "no rest: a night writes while turns are in hand",
        "worker/nights/subject_run.py",
        "            rest()\n",
        "",
        ("tests/contract/test_consolidation.py", "-k", "lets_turns_go_first"),
    ),
    Mutation(
        "no masks: a source keeps what no memory may hold",
        "memory/screening.py",
        "texts = [kept(message.content) for message in turn.messages]",
        "texts = [message.content for message in turn.messages]",
        ("tests/contract/test_pipeline.py",),
    ),
    Mutation(
        "no fence: a worker that was frozen writes when it wakes",
        "stores/catalog/writing.py",
        "where=there.fence <= statement.excluded.fence if fenced else None,",
        "",
        ("tests/fleet/test_processes.py", "-k", "frozen"),
    ),
    Mutation(
        "no renewal: a lease runs out under a slow model",
        "memory/leases.py",
        "is_renewed = self._mailbox.renew(lease, self._lease_seconds)",
        "is_renewed = True",
        ("tests/fleet/test_stores.py", "-k", "trouble and slow"),
    ),
    Mutation(
        "no repair: what was committed and not indexed stays so",
        "worker/tasks.py",
        "    index(jobs, context)\n",
        "",
        ("tests/fleet/test_failpoints.py", "-k", "after_commit"),
    ),
    Mutation(
        "a job is struck by whoever told the index last",
        "stores/catalog/index_jobs.py",
        "return None if is_shared else row.generation + 1",
        "return row.generation + 1",
        ("tests/contract/test_index_races.py", "-k", "dies"),
    ),
    Mutation(
        "no late acknowledgement: a plain message is gone with its worker",
        "worker/app.py",
        "task_acks_late=True",
        "task_acks_late=False",
        ("tests/fleet/test_processes.py", "-k", "plain_message"),
    ),
    Mutation(
        "no second try: a model that is down costs turns",
        "memory/failures.py",
        "return isinstance(translated(error), Transient)",
        "return False",
        ("tests/fleet/test_stores.py", "-k", "trouble and down"),
    ),
)


def main() -> int:
    """Try every mutation; 1 if any survived."""
    console = Console()
    console.print("first without any mutation: the tests must pass, or they would notice anything")
    if any(_run(ROOT, tests) for tests in _unmutated()):
        console.print("they fail without a mutation: mend that first", style="red")
        return 1
    survived = []
    with Progress(console=console) as progress:
        task = progress.add_task("", total=len(MUTATIONS))
        for mutation in MUTATIONS:
            progress.update(task, description=mutation.name)
            if _survives(mutation):
                survived.append(mutation)
                console.print(f"SURVIVED  {mutation.name}", style="red")
            else:
                console.print(f"noticed   {mutation.name}")
            progress.advance(task)
    console.print(f"{len(MUTATIONS) - len(survived)} of {len(MUTATIONS)} mutations were noticed")
    return 1 if survived else 0


def _unmutated() -> list[Sequence[str]]:
    """What must pass as it is: whole files at once, but of the slow ones only what a mutation asks for."""
    slow = {tuple(mutation.tests) for mutation in MUTATIONS if mutation.tests[0].startswith("tests/fleet/")}
    fast = {test for mutation in MUTATIONS for test in mutation.tests if test.endswith(".py")}
    return [sorted(fast - {tests[0] for tests in slow}), *sorted(slow)]


def _survives(mutation: Mutation) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "afterturn"
        shutil.copytree(ROOT, copy, ignore=left_out)
        mutated = copy / mutation.file
        text = mutated.read_text()
        if mutation.before not in text:
            raise LookupError(f"{mutation.file} has changed: mend the mutation {mutation.name!r}")
        mutated.write_text(text.replace(mutation.before, mutation.after, 1))
        return _run(copy, mutation.tests) == 0


def left_out(folder: str, names: list[str]) -> set[str]:
    """Return what a copy does without: environments, caches, and the data of a fleet that ran here, not the tables of a
    room."""
    own = {"data"} if Path(folder) == ROOT else set[str]()
    return own | shutil.ignore_patterns(".venv*", ".git", "*_cache", "__pycache__", "node_modules")(folder, names)


def _run(folder: Path, tests: Sequence[str]) -> int:
    """Run tests in a folder; 0 when they pass, 1 when one fails."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=unshrunk", *tests],
        cwd=folder,
        env=os.environ | {"FLEET_WAIT_SECONDS": str(_WAIT_SECONDS)},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if run.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(tests)} did not run:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
