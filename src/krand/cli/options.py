"""Options that several commands share, and the values built from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from krand.cli.numbers import Count, Real
from krand.errors import InvalidInput
from krand.promise import MAX_CROWD, Linkage, ResponseFormat
from krand.terminal.output import QUIET, Output
from krand.terminal.overwriting import FILE, FOLDER, OutputFile, PlaceOrFile, guarded

__all__ = ["FILE", "FOLDER"]
F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    from pathlib import Path

    from krand.survey.plan import Plan

    # Generic for type checkers; older releases of click cannot be subscripted.
    _ChoiceType = click.Choice[str]
else:
    _ChoiceType = click.Choice


class OneOf(_ChoiceType):
    """A choice whose error names the field, the rule and the value."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return str(super().convert(value, param, ctx))
        except click.BadParameter:
            field = param.name if param is not None and param.name else "value"
            choices = ", ".join(map(str, self.choices))
            raise InvalidInput(field, f"must be one of {choices}", value) from None


def stack(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Apply decorators so that help lists the options in the order written."""

    def apply(command: F) -> F:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return apply


crowd_options = stack(
    click.option("--crowd", type=Count(), required=True, help="Number of people who take part."),
    click.option("--bits", type=Count(), required=True, help="Yes/no facts about each person."),
    click.option("--epsilon", type=Real(), required=True, help="ε: e^ε bounds the privacy ratio."),
)

noise_option = click.option(
    "--noise", type=Real(), required=True, help="q: the probability of flipping a bit, below 1/2."
)

copies_option = click.option(
    "--copies", type=Count(), default=1, show_default=True, help="Noisy copies per person."
)

linkage_option = click.option(
    "--linkage",
    type=OneOf([str(linkage) for linkage in Linkage]),
    default=str(Linkage.BIT),
    show_default=True,
    help="What is sent together: each bit separately, or the whole record.",
)

shape_options = stack(
    click.option("--max-set-bits", type=Count(), help='Maximum "yes" answers per person.'),
    click.option(
        "--rounds", type=Count(), default=1, show_default=True, help="How often people are asked."
    ),
)


def _hush(context: click.Context, _: click.Parameter, quiet: bool) -> None:
    context.meta[QUIET] = quiet


def _with_output(command: F) -> F:
    """Give a command its `out` instead of the options that describe it."""

    @wraps(command)
    def begin(*arguments: Any, as_json: bool, no_color: bool, **options: Any) -> Any:
        return command(*arguments, out=Output(as_json, no_color), **options)

    return begin  # type: ignore[return-value]


output_options = stack(
    guarded,
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option(
        "--quiet",
        "-q",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_hush,
        help="Print nothing but errors and warnings.",
    ),
    click.option("--no-color", is_flag=True, help="Plain text, as with NO_COLOR."),
    _with_output,
)
"""What every command has; its function takes an `Output` named `out`."""


def responses_from(options: Mapping[str, Any]) -> ResponseFormat:
    """The format of one person's response, as the options describe it."""
    return ResponseFormat(
        bits=options["bits"],
        linkage=Linkage(options.get("linkage", Linkage.BIT)),
        copies=options.get("copies", 1),
        max_set_bits=options.get("max_set_bits"),
        rounds=options.get("rounds", 1),
    )


def output_option(
    help: str,
    *,
    required: bool = True,
    made_again: bool = False,
    endings: tuple[str, ...] = (),
) -> Callable[[F], F]:
    """-o or --output: the file that a command writes; it must not be one that it reads."""
    kind = OutputFile(made_again=made_again, endings=endings)
    return click.option("-o", "--output", type=kind, required=required, help=help)


force_option = click.option(
    "--force", is_flag=True, help="Replace the output even if krand cannot recreate it."
)


confidence_option = click.option(
    "--confidence",
    type=Real(),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)

plan_option = click.option(
    "--plan",
    "plan_file",
    type=FILE,
    required=True,
    help="The plan, written by krand plan.",
)

round_option = click.option(
    "--round",
    "round_number",
    type=int,
    default=1,
    show_default=True,
    help="Number of the round.",
)

invited_option = click.option(
    "--invited",
    type=PlaceOrFile(),
    metavar="NUMBER|FILE",
    show_default="what the survey says",
    help="How many people were invited: a number, or the collector's file of krand invite.",
)


def invited_from(given: str | None, plan: Plan) -> int | None:
    """How many people were invited, as the option says, or else the survey."""
    from pathlib import Path

    from krand.collector.invitations import read_invitations

    if given is None:
        return plan.survey.invited
    if not given.isdecimal():
        return read_invitations(Path(given), plan, 1).invited or None
    number = int(given) if len(given) < 20 else 0
    if not 1 <= number <= MAX_CROWD:
        raise InvalidInput("invited", f"must be from 1 to {MAX_CROWD:,}, or a file", given)
    return number


passphrase_options = stack(
    click.option(
        "--passphrase-env",
        metavar="NAME",
        help="Read the passphrase of the private key from this environment variable.",
    ),
    click.option("--passphrase", is_flag=True, help="Ask for the passphrase of the private key."),
)


def passphrase_from(variable: str | None, ask: bool, *, confirm: bool = False) -> bytes | None:
    """The passphrase that the options ask for, if any."""
    if variable is not None and ask:
        raise InvalidInput(
            "passphrase", "must be given once", "twice", "keep --passphrase or --passphrase-env"
        )
    if ask:
        answer: str = click.prompt(
            "Passphrase", hide_input=True, confirmation_prompt=confirm, err=True
        )
        return answer.encode()
    if variable is None:
        return None
    if not os.environ.get(variable):
        raise InvalidInput(
            "passphrase-env", "must name a variable that is set and not empty", variable
        )
    return os.fsencode(os.environ[variable])


def checked_plan(path: Path, out: Output) -> Plan:
    """The plan in a file; an error if it promises more than its noise gives."""
    from krand.planning.promises import check_promise
    from krand.survey.plan_file import read_plan

    plan = read_plan(path)
    with out.progress("checking the plan's promise"):
        check_promise(plan)
    return plan
