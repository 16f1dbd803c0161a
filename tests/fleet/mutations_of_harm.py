"""Mutations of what nobody may do to another: the promises of the threat model (docs/explanation/threat-model.md)."""

from __future__ import annotations

from typing import Final

from tests.fleet.mutation import Mutation

HARM: Final = (
    Mutation(
        "a key sees other tenants",
        "policies/access.py",
        "    if principal.tenant_id != subject.tenant_id:\n",
        "    if False:\n",
        ("tests/unit/policies/test_access.py",),
    ),
    Mutation(
        "no last look: what was found is told to whoever asks",
        "recall/audience.py",
        "return memory.subject == self.subject and may_see(self.seen, memory.labels)",
        "return True",
        ("tests/contract/test_recall.py", "-k", "nobody_is_told"),
    ),
    Mutation(
        "a folder of data for every account",
        "stores/private_files.py",
        "path.chmod(stat.S_IMODE(there.st_mode) & ~0o077)",
        "pass",
        ("tests/contract/test_private_files.py", "-k", "tightened"),
    ),
    Mutation(
        "keys lie in the catalog as they are",
        "memory/keys.py",
        "return hashlib.sha256(secret.encode()).hexdigest()",
        "return secret",
        ("tests/contract/test_access.py", "-k", "opens_anything"),
    ),
    Mutation(
        "an agent replaces what the user said",
        "policies/authority.py",
        '    "agent": Authority(),',
        '    "agent": Authority(replaces_users=True),',
        ("tests/unit/policies/test_authority.py",),
    ),
    Mutation(
        "what is known can end its block in a prompt",
        "recall/context_block.py",
        "- {as_data(memory.summary)} [",
        "- {memory.summary} [",
        ("tests/contract/test_recall.py", "-k", "can_end_it"),
    ),
    Mutation(
        "a form from elsewhere does what it says",
        "interfaces/http/pages/sign_in.py",
        "    if not secrets.compare_digest(form_token.encode(), session.form_token.encode()):\n",
        "    if False:\n",
        ("tests/e2e/test_pages.py", "-k", "does_not_come_from"),
    ),
    Mutation(
        "a page lets in what comes from elsewhere",
        "interfaces/http/pages/rendering.py",
        '        "Content-Security-Policy": CSP,\n',
        "",
        ("tests/e2e/test_pages.py", "-k", "from_elsewhere"),
    ),
    Mutation(
        "a turn may say that it is from the far future",
        "producers/client.py",
        "    if turn.occurred_at > now + timedelta(seconds=settings.max_ahead_seconds):\n",
        "    if False:\n",
        ("tests/contract/test_future_turns.py",),
    ),
    Mutation(
        "a turn has as many messages as it likes",
        "schema/turn.py",
        "Field(min_length=1, max_length=MAX_MESSAGES)",
        "Field(min_length=1)",
        ("tests/unit/test_schema.py", "-k", "has_a_bound"),
    ),
    Mutation(
        "one key asks without end",
        "interfaces/http/rates.py",
        "        if not taken.is_allowed:\n",
        "        if False:\n",
        ("tests/e2e/test_http_rates.py", "-k", "when_to_come_again"),
    ),
    Mutation(
        "what a user typed commands the operator's terminal",
        "interfaces/cli/output.py",
        "if segment.control or not CONTROL_CHARACTERS.search(segment.text):",
        "if True:",
        ("tests/unit/test_output.py",),
    ),
    Mutation(
        "a traceback in the logs repeats what was said",
        "worker/logs.py",
        "+ type(error).__name__)",
        "+ repr(error))",
        ("tests/unit/test_logs.py",),
    ),
    Mutation(
        "a message that was on its way brings back what was erased",
        "memory/erasure/queue.py",
        "for turn_id in sorted(on_their_way)",
        "for turn_id in ()",
        ("tests/contract/test_erasure_meanwhile.py", "-k", "finished_late and sqlite"),
    ),
    Mutation(
        "an erasure that is finished late does not know what waited",
        "memory/erasure/queue.py",
        "        context.redis.sadd(_waiting_key(subject), *waiting)\n",
        "",
        ("tests/contract/test_erasure_meanwhile.py", "-k", "finished_late and sqlite"),
    ),
    Mutation(
        "an erasure takes out of the spool what is said after it",
        "interfaces/cli/erasing.py",
        "spool.erase(spooled) if spool",
        "spool.erase(spool.find(is_meant)) if spool",
        ("tests/contract/test_erasure_meanwhile.py", "-k", "spool and sqlite"),
    ),
    Mutation(
        "what is said before an erasure, and comes after it, is remembered",
        "schema/tombstone.py",
        "return self._is_of(turn) and turn.occurred_at < self.at - tolerance",
        "return False",
        ("tests/contract/test_erasure.py", "-k", "on_its_way and sqlite"),
    ),
    Mutation(
        "no watch: what a hung process tells the index late stays",
        "stores/catalog/index_jobs.py",
        "for row in there.values() if row.taken_at is not None]",
        "for row in ()]",
        ("tests/contract/test_index_versions.py", "-k", "dead_process and sqlite"),
    ),
    Mutation(
        "an older version takes the place of a newer in the index",
        "stores/index/sqlite.py",
        "WHERE excluded.version >= version\n    AND (",
        "WHERE (",
        ("tests/contract/test_index_versions.py", "-k", "can_compare and sqlite"),
    ),
    Mutation(
        "no look for what the index of documents lost",
        "memory/agreement.py",
        "for family in families_in_use(context))",
        "for family in families_in_use(context)[:1])",
        ("tests/contract/test_lost_index.py", "-k", "another_family and chunks and sqlite"),
    ),
    Mutation(
        "a plan takes up all that a user ever told",
        "worker/nights/consolidate.py",
        "        context.settings.night_memories,\n",
        "        10**9,\n",
        ("tests/contract/test_consolidation.py", "-k", "what_is_older"),
    ),
    Mutation(
        "a plan outlives the lock under which it is made",
        "worker/nights/subject_run.py",
        "            if not self._lock.renew():\n                raise Busy\n",
        "",
        ("tests/contract/test_night_runs.py", "-k", "takes_long and sqlite"),
    ),
)
