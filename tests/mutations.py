"""Plants faults in krand, one at a time, and tells which of them the tests notice.

    python tests/mutations.py               # each with the tests nearest to it
    python tests/mutations.py --whole       # what those miss, with all of make test and make check
    python tests/mutations.py wire mixing   # only the faults in these rooms

A fault is planted in a copy of the source. First the tests run as `make test` runs them, then as
`make check` does. Whatever nobody notices wants a test.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "krand"
COMMANDS = {"make test": {}, "make check": {"KRAND_CHECK": "1"}}


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault: what stands once in a file is replaced."""

    file: str
    old: str
    new: str
    breaks: str
    near: str
    """Files and folders of tests/, separated by blanks."""

    @property
    def room(self) -> str:
        """The room of the file."""
        return self.file.partition("/")[0]

    def planted(self, text: str) -> str:
        """The file's text with the fault."""
        if text.count(self.old) != 1:
            raise SystemExit(f"{self.file}: {self.old!r} stands {text.count(self.old)} times")
        return text.replace(self.old, self.new)


FAULTS = """
accounting/channel.py: what one response tells, for much noise
? accounting/test_channel.py
- math.log1p((1 - 2 * q) / q) if
+ math.log1p((1 - q) / q) if
accounting/composition.py: the other direction of a pair of laws
? accounting/test_composition.py
- mass = self.mass * np.exp(-self.step * self.index)
+ mass = self.mass * np.exp(self.step * self.index)
accounting/mechanism.py: the better of two arguments
? accounting/test_mechanism.py accounting/test_planner.py
- best = min(found,
+ best = max(found,
accounting/mechanism.py: rounds of whole records are composed
? accounting/test_mechanism.py accounting/test_planner.py
- return self.responses.copies * self.responses.rounds
+ return self.responses.copies
accounting/curator.py: the baseline of a trusted curator
? accounting/test_curator.py
- return math.sqrt(counts) / gaussian_shift(policy)
+ return counts / gaussian_shift(policy)
accounting/calibration.py: the precision of a planned count
? accounting/test_planner.py
- sigma = math.sqrt(spread) / (1 - 2 * noise)
+ sigma = math.sqrt(spread) / (1 - noise)
accounting/dummy_bounds.py: the rounding of δ to the safe side
? accounting/test_dummy_bounds.py
- slack = UNIT * (4 + 2 * epsilons)
+ slack = -UNIT * (4 + 2 * epsilons)
wire/messages.py: bits after the last position
? wire/test_messages.py
- unused = -self.lane.positions % 8
+ unused = self.lane.positions % 8
wire/messages.py: an empty message that is not empty
? wire/test_messages.py
- if any(payload):
+ if False:
wire/messages.py: messages of an older version
? wire/test_messages.py wire/test_vectors.py
- if version != self.version:
+ if version > self.version:
wire/layers.py: seals are bound to a lane
? wire/test_layers.py
- round_number.to_bytes(2, "big") + lane.to_bytes(4, "big")
+ round_number.to_bytes(2, "big") + bytes(4)
wire/layers.py: seals are bound to a hop
? wire/test_layers.py
- bytes((hop,))
+ bytes((0,))
wire/plan_signatures.py: a forged signature beside a true one
? wire/test_plan_signatures.py
- if not all(is_valid(
+ if not any(is_valid(
wire/invitations.py: ids of two rounds cannot be linked
? wire/test_invitations.py
- PURPOSE + name + round_number.to_bytes(2, "big") + code
+ PURPOSE + name + code
wire/submissions.py: a submission with something behind it
? wire/test_messages.py collector/test_bodies.py collector/test_http.py
- if len(body) != self.length:
+ if len(body) < self.length:
wire/signed.py: a signature has one purpose
? wire/test_signed.py
- return record.purpose + canonical_json(_content(record))
+ return canonical_json(_content(record))
partners/requests.py: a request is good once
? partners/test_requests.py
- if nonce in self._used:
+ if False:
partners/requests.py: the body is the one that was signed
? partners/test_requests.py
- if found != self.body:
+ if False:
partners/tls.py: a certificate of another identity
? partners/test_talking.py
- context.load_verify_locations(cadata=_authority(public))
+ context.verify_mode = ssl.CERT_NONE
partners/uploads.py: a batch appears before it is whole
? partners/test_uploads.py
- if part.hash.hexdigest() == link.output_sha256:
+ if part.offset >= 90_000:
partners/uploads.py: two batches with one id
? partners/test_uploads.py
- elif read_whole("chain", path) != content:
+ elif False:
partners/uploads.py: more bytes than the link allows
? partners/test_uploads.py
- if not chunk or offset + len(chunk) > most:
+ if not chunk:
partners/documents.py: a receipt of another file
? partners/test_deliveries.py
- if (found := getattr(signed.record, name)) != value:
+ if (found := value) != value:
partners/documents.py: a receipt that somebody else signed
? partners/test_deliveries.py
- if not signed.is_by(station.identity):
+ if False:
mixing/store.py: the key goes with the last batch
? mixing/test_store.py
- with self._changed(self.keys.without(mixed.round) if is_last else self.keys):
+ with self._changed(self.keys):
partners/policy.py: everybody without limits
? partners/test_policy.py
- broken += _missing_limits(raw_limits)
+ pass
partners/clock.py: a clock that is set while the service runs
? partners/test_mixer_service.py
- _check(expected, now, "while this service ran")
+ pass
partners/signing.py: keys in a second plan
? partners/test_mixer_service.py
- if pairing.plan not in ("", plan.hash):
+ if False:
partners/signing.py: a second plan of a survey
? partners/test_mixer_service.py
- stage = Stage.CHECKING if self._is_first(pairing) else Stage.SECOND
+ stage = Stage.CHECKING
partners/records.py: an older copy of the list of plans
? partners/test_mixer_service.py
- self._check_anchor()
+ pass
partners/mixer_service.py: keys are erased by date
? partners/test_mixer_service.py
- if today > until and left:
+ if False:
partners/passing.py: a store that was restored with its anchor
? partners/test_passing.py
- if has_it:
+ if False:
partners/signing.py: keys are shown before they are on the disk
? partners/test_mixer_service.py
- key=key_name(descriptor), descriptor=descriptor)
+ key=key_name(descriptor), descriptor=descriptor, stage=Stage.READY)
partners/passing.py: a batch is removed before there is a receipt
? partners/test_service_kills.py
- if link is not None and link.batch_id in received:
+ if link is not None and link.batch_id in known:
partners/uploads.py: a full disk ends an upload
? partners/test_uploads.py
- except (OSError, Unwritable) as error:
+ except Unwritable as error:
mixing/watching.py: a full disk refuses a batch
? partners/test_passing.py
- happened = Happened.WAITING if passing else Happened.REFUSED
+ happened = Happened.REFUSED
partners/mixer_service.py: a full disk ends a service
? partners/test_mixer_service.py
- except (Unavailable, Unwritable, OSError, sqlite3.Error) as error:
+ except ZeroDivisionError as error:
mixing/dummies.py: exact probabilities of dummies
? mixing/test_dummies.py
- np.searchsorted(bounds, words, side="right")
+ np.searchsorted(bounds, words, side="left")
mixing/dummies.py: the number of messages says nothing
? mixing/test_dummies.py
- nulls = 2 * law.reach - int(tokens[0])
+ nulls = 2 * law.reach
mixing/dummies.py: fresh entropy before every lane
? mixing/test_dummies.py
- random.refresh()
+ pass
mixing/mixer.py: a batch that its chain does not vouch for
? mixing/test_chain_of_mixers.py
- if digest != last.output_sha256:
+ if False:
mixing/mixer.py: more batches than the plan allows
? mixing/test_chain_of_mixers.py
- if done >= most:
+ if done > most:
mixing/run.py: repeated messages are mixed once
? mixing/test_chain_of_mixers.py
- yield rows[~self.again[start:end]]
+ yield rows
mixing/run.py: the order of messages
? mixing/test_chain_of_mixers.py
- rows = self.random.shuffled(np.concatenate([empty, *chunks]))
+ rows = np.concatenate([empty, *chunks])
mixing/run.py: numbers of dummies are overwritten
? mixing/test_chain_of_mixers.py mixing/test_dummies.py
- dummies.erase()
+ pass
mixing/run.py: messages that were mixed in another batch
? mixing/test_chain_of_mixers.py
- again | np.isin(digests[own], seen(bucket))
+ again
collector/closing.py: a batch of one person too few
? collector/test_closing.py collector/test_stores.py
- if last.people >= config.crowd:
+ if last.people >= config.crowd - 1:
collector/release.py: a batch below its crowd leaves
? collector/test_release.py
- if batch.people < store.config.crowd:
+ if False:
collector/release.py: messages are missing from a batch
? collector/test_release.py
- if count != batch.messages:
+ if False:
collector/release.py: a batch is written through a link
? collector/test_release.py attacks/test_links.py
- if path.is_symlink():
+ if False:
collector/intake.py: submissions wait for others that hide them
? collector/test_http.py collector/test_direct.py
- if self._waiting.qsize() >= MINIMUM_GROUP:
+ if self._waiting.qsize() >= 0:
collector/intake.py: late people are refused, retries are acknowledged
? collector/test_closing.py collector/test_public.py
-             if before:
-                 entry.stored.set_result(False)
+             if not before:
+                 entry.stored.set_result(False)
collector/intake.py: how many were repeated
? collector/test_http.py collector/test_progress.py
- self.counts.repeated += not new
+ self.counts.repeated += new
analysis/estimates/intervals.py: intervals that hold together
? analysis/test_intervals.py
- return math.exp(math.log(confidence) / max(1, rows))
+ return confidence
analysis/mechanisms/devices.py: the skewness of a count
? analysis/test_intervals.py
- middle = middle - (1 - 2 * part) * (z * z - 1) / 6 / self.copies
+ middle = middle + (1 - 2 * part) * (z * z - 1) / 6 / self.copies
analysis/mechanisms/devices.py: intervals that shrink to a point
? analysis/test_intervals.py
- np.maximum(high, ends[1, -2])
+ high
analysis/shapes.py: more responses than people have
? analysis/test_tally.py cli/test_verify_command.py
- if tally.responses > tally.people * copies:
+ if False:
analysis/mechanisms/mixers.py: dummies of every batch are subtracted
? analysis/test_mixed_results.py analysis/test_mixed_questions.py
- mixes = plan.survey.trust.mixers * batches
+ mixes = plan.survey.trust.mixers
analysis/estimates/counted.py: how many answered nothing
? analysis/test_tally.py analysis/test_questions.py
- [[max(0.0, people - float(fitted.sum()))], fitted]
+ [[0.0], fitted]
client/randomizer.py: an order that is not quite uniform
? client/test_vectors.py client/test_client.py
- if word < NOISE_GRID - NOISE_GRID % bound:
+ if word < NOISE_GRID:
client/randomizer.py: the exact probability of a flip
? client/test_vectors.py client/test_client.py
- random.words(count, WORD) < numerator
+ random.words(count, WORD) <= numerator
client/randomizer.py: which tokens are kept, and their order
? client/test_mixed_plans.py client/test_vectors.py
- return shuffled(found, random)[: lane.messages]
+ return found[: lane.messages]
client/client.py: fresh entropy before a submission
? client/test_client.py
- random.refresh()
+ pass
client/ledger.py: an acknowledged id is erased
? client/test_ledger.py
- FORGET = "messages = NULL, submission = x''"
+ FORGET = "messages = NULL"
client/client.py: a retry is not somebody else's invitation
? client/test_sending.py client/test_client.py collector/test_invitations.py
- is_used = is_first and found.at_once and found.known
+ is_used = is_first and found.known
"""
"""The file and what is broken; the nearest tests; what stands there, and what is planted."""


def faults(text: str) -> Iterator[Mutation]:
    """Each as a patch would write it."""
    for part in re.split(r"\n(?=\w)", text.strip()):
        head, *lines = part.splitlines()
        file, _, breaks = head.partition(": ")
        near, old, new = (
            "\n".join(line[2:] for line in lines if line[0] == sign) for sign in "?-+"
        )
        yield Mutation(file, old, new, breaks, near)


MUTATIONS = tuple(faults(FAULTS))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rooms", nargs="*", help="only faults in these rooms")
    parser.add_argument("--whole", action="store_true", help="all tests, where near ones miss it")
    asked = parser.parse_args()
    seen: Counter[str] = Counter()
    for mutation in MUTATIONS:
        if asked.rooms and mutation.room not in asked.rooms:
            continue
        with planted(mutation) as source:
            noticed = noticed_by(source, [f"tests/{name}" for name in mutation.near.split()])
            if noticed is None and asked.whole:
                noticed = noticed_by(source, ["tests", "--ignore=tests/oracles", "-n", "3"])
        seen[noticed or "missed"] += 1
        print(f"{noticed or 'MISSED':10}  {mutation.file}: {mutation.breaks}", flush=True)
    print(", ".join(f"{count} {by}" for by, count in seen.items()))


@contextmanager
def planted(mutation: Mutation) -> Iterator[Path]:
    """A copy of the source with the fault."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            SOURCE, Path(folder) / "krand", ignore=shutil.ignore_patterns("__pycache__")
        )
        file = Path(folder) / "krand" / mutation.file
        file.write_text(mutation.planted(file.read_text(encoding="utf-8")), encoding="utf-8")
        yield Path(folder)


def noticed_by(source: Path, tests: Sequence[str]) -> str | None:
    """The first command of which a test fails; none if all of them pass."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    for command, settings in COMMANDS.items():
        environment = {**os.environ, "PYTHONPATH": str(source), **settings}
        done = subprocess.run(pytest, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode == 1:
            return command
        if done.returncode != 0:
            raise SystemExit(done.stdout + done.stderr)
    return None


if __name__ == "__main__":
    main()
