"""`krand-lab simulate`: check the exact promise by Monte Carlo simulation."""

from __future__ import annotations

import secrets
from typing import Any

import click

from krand.cli.numbers import Count
from krand.cli.options import copies_option, crowd_options, noise_option, output_options
from krand.terminal.output import Output


@click.command(short_help="Check the exact promise by simulation.")
@crowd_options
@noise_option
@copies_option
@click.option(
    "--samples",
    type=Count(low=100, high=10**8),
    default="100k",
    show_default=True,
    help="Number of outcomes to draw for each direction.",
)
@click.option("--seed", type=Count(low=0), help="Seed, to repeat a simulation.")
@click.option("--plain", is_flag=True, help="No importance sampling; misses rare tails.")
@output_options
def simulate(out: Output, samples: int, seed: int | None, plain: bool, **options: Any) -> None:
    """Check the exact promise by Monte Carlo simulation, for whole records.

    All people but one give the same answers and that person the opposite ones: the attack of the
    drafts. The simulation shares no code with the exact computation. Its cost does not depend on
    the size of the crowd.

    \b
    Examples:
      krand-lab simulate --crowd 1000 --bits 5 --noise 0.2446 --epsilon 0.6931
      krand-lab simulate --crowd 10M --bits 40 --noise 0.3593 --epsilon 2 \\
          --copies 16 --samples 10k --seed 7 --json
    """
    from krand_lab.agreement import agreement_table, compare
    from krand_lab.exact.attack import Attack
    from krand_lab.simulation import simulate as run

    drawn = seed is None
    seed = secrets.randbits(32) if seed is None else seed
    q, crowd, epsilon = options["noise"], options["crowd"], options["epsilon"]
    bits, copies = options["bits"], options["copies"]
    attack = Attack(bits=bits, copies=copies, crowd=crowd, epsilon=epsilon)
    delta, eta = attack.delta(q), attack.eta(q)
    with out.progress("simulating"):
        simulation = run(
            bits=bits,
            noise=q,
            crowd=crowd,
            epsilon=epsilon,
            copies=copies,
            samples=samples,
            seed=seed,
            importance=not plain,
        )
    comparison = compare(simulation, delta, eta, copies)
    if out.as_json:
        settings = {name: options[name] for name in ("crowd", "bits", "copies", "noise")}
        out.json(
            {
                **settings,
                "epsilon": epsilon,
                "linkage": "record",
                "samples": samples,
                "seed": seed,
                "importance_sampling": not plain,
                "confidence": 0.95,
                **{row.key: row.values() for row in comparison},
                "exact_is_upper_bound": copies > 1,
                "agree": all(row.agree for row in comparison),
            }
        )
        return
    console = out.console()
    console.print(agreement_table(comparison))
    if copies > 1:
        console.print(
            "several copies: the exact value is for copies that are shuffled separately, an upper"
            " bound for copies that are mixed; agreement means that the simulation does not exceed"
            " it"
        )
    console.print(
        f"simulation with seed {seed}{' (random)' if drawn else ''}, {samples:,} outcomes for each"
        " direction; one interval in twenty misses by chance"
    )
