"""`krand plan`: turn a survey file into a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.options import FILE, force_option, output_option, output_options
from krand.terminal.output import Output

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
    from rich.console import Console

    from krand.planning.coalitions import Remainder
    from krand.planning.noise_sources import SourceOption
    from krand.planning.periods import PeriodOption
    from krand.planning.successors import Succession
    from krand.survey.plan import Mixer, Plan
    from krand.survey.survey import Survey
    from krand.wording.plans import Alternative


@dataclass(frozen=True, slots=True, kw_only=True)
class _Explanation:
    """What --explain adds: other sources of noise, coalitions, other methods."""

    sources: tuple[SourceOption, ...]
    coalitions: tuple[Remainder, ...]
    alternatives: tuple[Alternative, ...]
    periods: tuple[PeriodOption, ...]

    def values(self) -> dict[str, Any]:
        return {
            "noise_sources": [asdict(option) for option in self.sources],
            "coalitions": [asdict(row) for row in self.coalitions],
            "alternatives": [asdict(way) for way in self.alternatives],
            "periods": [asdict(option) for option in self.periods],
        }


@click.command(short_help="Turn a survey file into a plan with its noise.")
@click.argument("survey", type=FILE)
@output_option("The plan file to write; without it nothing is written.", required=False)
@force_option
@click.option(
    "--analyst-key",
    type=FILE,
    help="The analyst's public key, needed for sealed messages; it becomes part of the plan.",
)
@click.option(
    "--mixer",
    "mixers",
    type=FILE,
    multiple=True,
    help="The public descriptor of a mixer, written by krand mix keygen; once for each mixer, the"
    " collector first.",
)
@click.option(
    "--after",
    "earlier",
    type=FILE,
    help="The plan of an earlier survey: say what people spend who answered it and answer this one"
    " too.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Also show how the noise was divided, what remains if others work together, and compare"
    " the alternatives.",
)
@output_options
def plan(
    out: Output,
    survey: Path,
    output: Path | None,
    force: bool,
    analyst_key: Path | None,
    mixers: tuple[Path, ...],
    earlier: Path | None,
    explain: bool,
) -> None:
    """Find the smallest noise that keeps a survey's promise, and write it as a plan.

    The plan holds everything that a device needs: questions and their choices, positions, noise,
    number of messages, promise, and the key that messages are sealed for. A data holder who
    randomizes a whole table needs no key. Where mixers add the noise, the plan also names every
    mixer with its keys. The plan also says how much one dishonest person can
    change a count. A plan is identified by its SHA-256 hash (sha256sum plan.json prints it); any
    change makes a different plan.

    A published survey cannot be edited, only ended. Its successor is another plan: --after says
    what people spend who answer both. A plan that --force replaces is taken as the earlier one.

    \b
    Examples:
      krand plan survey.toml -o plan.json
      krand plan survey.toml --analyst-key key.pub.pem -o plan.json
      krand plan survey.toml --mixer collector.json --mixer university.json -o plan.json
      krand plan survey.toml --after earlier.json -o plan.json
      krand plan survey.toml --explain
    """
    from krand.files import keep_inputs
    from krand.planning.groups import results_by_group
    from krand.planning.making import make_plan
    from krand.survey.reading import read_survey
    from krand.terminal.overwriting import files_named_in
    from krand.wire.keys import read_public_key
    from krand.wire.mixers import check_mixers

    asked = read_survey(survey)
    if output is not None:
        keep_inputs("output", output, files_named_in(survey))
    key = None if analyst_key is None else read_public_key(analyst_key)
    chain = _chain(asked, mixers)
    with out.progress("planning") as progress:
        made = make_plan(asked)
        explanation = _explain(made, progress) if explain else None
        instead = "" if explain or out.as_json or out.quiet else _instead(made)
        by_group = () if out.quiet else results_by_group(made)
    made = made if key is None else made.sealed_for(key)
    if chain:
        made = made.mixed_by(chain)
        check_mixers(made)
    after = _after(made, earlier, output)
    if output is not None:
        made.save(output, overwrite=force)
    from krand.wording.plans import edited_text, unreadable

    for warning in (unreadable(made), edited_text(after) if after else ""):
        if warning:
            out.warn(warning)
    if out.as_json:
        found = {} if explanation is None else explanation.values()
        found |= {"after": asdict(after)} if after else {}
        found |= {"by_group": [asdict(each) for each in by_group]} if by_group else {}
        out.json({"hash": made.hash, **made.values(), **found})
        return
    from krand.wording.phrases import dishonest_can
    from krand.wording.plans import (
        group_sentences,
        margins_sentence,
        mixers_sentence,
        promise_sentence,
        spent_text,
        survey_table,
    )
    from krand.wording.surveys import about_sentence

    console = out.console()
    if who := about_sentence(made.survey):
        console.print(who)
    console.print(survey_table(made))
    for said in filter(None, (margins_sentence(made), *group_sentences(by_group))):
        console.print(said)
    console.print(promise_sentence(made))
    sealed = "message" if made.messages == 1 else "messages"
    dishonest = dishonest_can([block.shift for block in made.blocks])
    console.print(
        f"Each submission has {made.messages:,} sealed {sealed}. {dishonest}",
    )
    console.print(_sealed_for(key, made))
    if who_mixes := mixers_sentence(made):
        console.print(who_mixes)
    if after is not None:
        console.print(spent_text(after))
    if explanation is not None:
        _show(explanation, made, console)
    elif instead:
        console.print(instead)
    console.print(f"Plan {made.hash}", soft_wrap=True)
    if output is not None:
        console.print(f"Written: {output}", soft_wrap=True)


def _chain(asked: Survey, files: tuple[Path, ...]) -> tuple[Mixer, ...]:
    """The mixers that the files describe, as many as the survey asks for."""
    from krand.errors import InvalidInput
    from krand.mixing.keys import read_descriptor

    if not files:
        return ()
    if not asked.trust.chain:
        rule = "must not be given where devices add the noise"
        hint = 'leave --mixer out, or say noise = "mixers" in [trust] of the survey'
        raise InvalidInput("mixer", rule, str(files[0]), hint)
    if len(files) != asked.trust.mixers:
        rule = f"must be given {asked.trust.mixers} times, as the survey has so many mixers"
        raise InvalidInput("mixer", rule, len(files), "give one file for each, the collector first")
    return tuple(map(read_descriptor, files))


def _after(made: Plan, earlier: Path | None, output: Path | None) -> Succession | None:
    """What the earlier plan means for this one: the plan that is named, or the one replaced."""
    from krand.errors import KrandError
    from krand.planning.successors import succession
    from krand.survey.plan_file import read_plan

    if earlier is not None:
        return succession(made, read_plan(earlier))
    if output is None or not output.is_file():
        return None
    try:
        replaced = read_plan(output)
    except KrandError:  # some other file, which writing the plan will refuse or replace
        return None
    found = succession(made, replaced)
    return found if found.same_survey and found.changed else None


def _explain(made: Plan, progress: Callable[[str], None] | None) -> _Explanation:
    from krand.planning.coalitions import coalitions_of
    from krand.planning.noise_sources import noise_sources
    from krand.planning.periods import period_options
    from krand.wording.plans import alternatives

    return _Explanation(
        sources=noise_sources(made),
        coalitions=coalitions_of(made),
        alternatives=alternatives(made, progress),
        periods=period_options(made),
    )


def _instead(made: Plan) -> str:
    """What mixers' noise would give instead of devices'."""
    from krand.planning.noise_sources import mixers_sources
    from krand.wording.plans import mixers_instead

    if made.survey.trust.chain:
        return ""
    return mixers_instead(mixers_sources(made))


def _show(explanation: _Explanation, made: Plan, console: Console) -> None:
    from krand.wording.parties import coalitions_table
    from krand.wording.plans import (
        alternatives_table,
        division_sentence,
        mixers_instead,
        periods_table,
        sources_table,
    )

    console.print(division_sentence(made))
    console.print(coalitions_table(explanation.coalitions, made))
    if explanation.sources:
        console.print(sources_table(explanation.sources, made))
    instead = mixers_instead(explanation.sources)
    if instead:
        console.print(instead)
    if explanation.periods:
        console.print(periods_table(explanation.periods))
    console.print(alternatives_table(explanation.alternatives))


def _sealed_for(key: X25519PublicKey | None, made: Plan) -> str:
    from krand.wire.keys import fingerprint

    if key is None and made.survey.trust.chain:
        return "The plan has no analyst's key, which devices and mixers need: --analyst-key."
    if key is None:
        return (
            "The plan has no analyst's key, so it can only be used for a data holder's table; a"
            " collector needs --analyst-key."
        )
    return f"Messages are sealed for the key in the plan, fingerprint {fingerprint(key)}."
