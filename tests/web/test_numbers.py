"""The planner's numbers page: the same numbers as the Python API, and refusals in its own words."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import pytest

from krand.accounting.baselines import rappor_sigma
from krand.accounting.calibration import plan_noise
from krand.accounting.curator import curator
from krand.accounting.frontier import frontier, message_size
from krand.errors import CannotMeet
from krand.promise import Z95, Assurance, Linkage, Policy, ResponseFormat
from krand.web.numbers import FRONTIER_COPIES, density_part, frontier_part, numbers_part
from krand.web.settings import FIELDS, settings_from
from krand.wording.promises import promise
from web.reading import text_of, value_of

if TYPE_CHECKING:
    from httpx import Response
    from starlette.testclient import TestClient


REQUESTS = [
    ({}, Policy(epsilon=2.0, minimum_crowd=10**7, delta=1e-6), ResponseFormat(40)),
    (
        {"epsilon": "1", "promise": "eta", "eta": "0.01", "crowd": "2e6", "linkage": "record"},
        Policy(epsilon=1.0, minimum_crowd=2_000_000, eta=0.01),
        ResponseFormat(40, linkage=Linkage.RECORD),
    ),
    (
        {"copies": "2", "bits": "9", "max_set_bits": "3", "assurance": "outlier"},
        Policy(epsilon=2.0, minimum_crowd=10**7, delta=1e-6, assurance=Assurance.OUTLIER),
        ResponseFormat(9, linkage=Linkage.BIT, copies=2, max_set_bits=3),
    ),
]


def planned(planner: TestClient, query: dict[str, str]) -> Response:
    """The page as a browser without scripts asks for it."""
    return planner.get("/numbers", params={**query, "numbers": "1"})


def test_the_page_comes_before_its_numbers(
    planner: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is computed for it: its script asks for the parts."""
    monkeypatch.setattr("krand.web.planner.PAGE_SECONDS", 0.0)
    page = planner.get("/numbers", params={"epsilon": "1.5"})
    assert page.status_code == 200
    assert 'value="1.5"' in page.text
    assert 'data-part="/part/numbers" data-state="unknown">\n\n</section>' in page.text
    assert "press Plan" in page.text


@pytest.mark.parametrize("path", ["/numbers", "/part/numbers"])
def test_what_is_not_done_in_time_is_to_be_tried_again(
    planner: TestClient, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """503 and when to come back, for people and for the script."""
    monkeypatch.setattr("krand.web.planner.PAGE_SECONDS", 0.0)
    answer = planner.get(path, params={"bits": "61", "crowd": "71234567", "numbers": "1"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert "the limit for a page" in answer.text


@pytest.mark.check
@pytest.mark.parametrize(("query", "policy", "responses"), REQUESTS)
def test_the_page_shows_what_the_api_computes(
    planner: TestClient,
    query: dict[str, str],
    policy: Policy,
    responses: ResponseFormat,
) -> None:
    """Every number of the page is the API's, to the last bit, and the promise its sentence."""
    page = planned(planner, query)
    assert page.status_code == 200
    plan = plan_noise(policy, responses)
    messages, size = message_size(plan)
    expected = {
        "noise-value": plan.noise,
        "half-width-value": plan.precision.half_width_95,
        "sigma-value": plan.precision.sigma,
        "bytes-value": size,
        "local-epsilon-value": plan.promise.local_epsilon,
        "delta-value": plan.promise.delta,
    }
    assert {name: value_of(page.text, name) for name in expected} == expected
    assert f" {messages:,} " in text_of(page.text, "bytes-note")
    assert text_of(page.text, "promise-sentence") == promise(policy)
    widths = dict(re.findall(r'id="baseline-(\w+)".*?data-value="([^"]*)"', page.text, re.DOTALL))
    assert float(widths["krand"]) == plan.precision.half_width_95
    assert float(widths["rappor"]) == Z95 * rappor_sigma(policy, responses)
    assert float(widths["curator"]) == Z95 * curator(policy, responses).sigma


@pytest.mark.check
def test_a_part_is_what_the_whole_page_has_at_the_same_address(planner: TestClient) -> None:
    """With the script or without, people see the same; the form shows what the address says."""
    query = {"epsilon": "1.5", "crowd": "1M", "bits": "3", "linkage": "record"}
    page, part = (
        planned(planner, query).text,
        planner.get("/part/numbers", params=query),
    )
    assert part.headers["x-state"] == "planned"
    assert part.text in page
    for name in ("epsilon", "crowd", "bits"):
        assert f'id="{name}" name="{name}" value="{query[name]}"' in page
    assert re.search(r'id="linkage-record" value="record" checked', page)


@pytest.mark.check
def test_an_impossible_request_is_answered_with_the_nearest_ones(planner: TestClient) -> None:
    """The page has krand's own refusal, and the nearest requests are links to what can be met."""
    query = {"epsilon": "0.1", "crowd": "100"}
    with pytest.raises(CannotMeet) as refused:
        plan_noise(Policy(epsilon=0.1, minimum_crowd=100, delta=1e-6), ResponseFormat(40))
    page = planned(planner, query)
    assert page.status_code == 200
    assert refused.value.reason[1:] in text_of(page.text, "refusal-reason")
    nearest = re.search(r'<ul id="nearest">(.*?)</ul>', page.text, re.DOTALL)
    links = re.findall(r'<a href="([^"]*)" data-fill>([^<]*)</a>', nearest[1])
    assert tuple(text for _, text in links) == refused.value.nearest
    assert len(links) >= 2
    part = planner.get(html.unescape(links[0][0]).replace("/numbers?", "/part/numbers?"))
    assert part.headers["x-state"] == "planned"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"epsilon": "nothing"}, "epsilon"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "inf"}, "epsilon"),
        ({"epsilon": ""}, "epsilon"),
        ({"delta": "2"}, "delta"),
        ({"promise": "eta", "eta": "0"}, "eta"),
        ({"promise": "both"}, "promise"),
        ({"crowd": "1.5"}, "crowd"),
        ({"crowd": "9" * 5000}, "crowd"),
        ({"bits": "0"}, "bits"),
        ({"bits": "1e6"}, "bits"),
        ({"copies": "10000"}, "copies"),
        ({"max_set_bits": "41"}, "max_set_bits"),
        ({"linkage": "'\"><script>alert(1)</script>"}, "linkage"),
        ({"assurance": "sure"}, "assurance"),
        ({"assurance": "draft"}, "assurance"),
    ],
)
def test_a_value_that_breaks_a_rule_is_named(
    planner: TestClient, query: dict[str, str], field: str
) -> None:
    """The whole page says so with status 422, the part with an answer like any other."""
    page, part = planned(planner, query), planner.get("/part/numbers", params=query)
    assert page.status_code == 422
    assert (part.status_code, part.headers["x-state"]) == (200, "invalid")
    assert part.headers["x-field"] == field
    assert text_of(page.text, "refusal-reason").startswith(f"{field} ")
    assert "Traceback" not in page.text
    assert "<script>alert" not in page.text
    if field in FIELDS:
        assert re.search(rf'id="{field}"[^>]*aria-invalid="true"', page.text)


@pytest.mark.check
def test_the_frontier_is_the_apis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are those of the API, in a table beside the figure."""
    monkeypatch.setattr("krand.web.numbers.FRONTIER_COPIES", (1,))
    found = frontier(
        Policy(epsilon=10.0, minimum_crowd=10_000, delta=0.01), ResponseFormat(2), (1,)
    )
    query = {"epsilon": "10", "crowd": "10k", "bits": "2", "delta": "0.01"}
    part = frontier_part(settings_from({**query, "linkage": "record"}))
    rows = re.findall(
        r'data-row="([^"]*)".*?data-noise="([^"]*)".*?data-sigma="([^"]*)".*?data-bytes="(\d+)"',
        part,
        re.DOTALL,
    )
    expected = [
        (r.name, "" if r.noise is None else repr(r.noise), repr(r.sigma), r.bytes_per_user)
        for r in found.rows
    ]
    assert [(html.unescape(n), q, s, int(b)) for n, q, s, b in rows] == expected


@pytest.mark.check
def test_the_frontier_comes_by_a_second_request_or_with_the_page(planner: TestClient) -> None:
    """The script asks for it alone; without the script a link asks for the page with it."""
    query = {"epsilon": "10", "crowd": "10k", "bits": "2", "delta": "0.01"}
    page = planned(planner, query).text
    link = re.search(r'id="frontier-link" href="([^"#]*)#frontier"', page)
    assert 'id="frontier-table"' not in page
    part = planner.get("/part/frontier", params=query)
    assert 'id="frontier-table"' in part.text
    assert part.text.count('data-row="krand') == 2 * len(FRONTIER_COPIES) - 2
    assert part.text in planner.get(html.unescape(link[1])).text
    unknown = planner.get("/part/frontier", params={**query, "assurance": "draft"})
    assert (unknown.headers["x-state"], unknown.headers["x-field"]) == ("invalid", "assurance")


def test_figures_carry_no_styles_and_names_of_their_own(planner: TestClient) -> None:
    """A browser that is told to allow no inline styles shows them all the same."""
    page = planned(planner, {}).text
    assert re.search(r'<svg[^>]*role="img"', page)
    assert "style=" not in page
    assert "<style" not in page
    assert "var(--record)" in page
    figure = page[page.index("<svg") : page.index("</svg>")]
    names = set(re.findall(r'\bid="([^"]*)"', figure))
    assert all(name.startswith("density-") for name in names)
    assert set(re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', figure)) != set()
    used = {a or b for a, b in re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', figure)}
    assert used <= names


def test_the_legend_of_the_figure_is_text_below_it() -> None:
    """On a phone it is as readable as the rest; the figure itself has the curves alone."""
    page = density_part(settings_from({"crowd": "1M", "bits": "1"}))
    figure, legend = page.split("</svg>")
    entries = re.findall(r'<li class="(\w+)">(.*?)</li>', legend)
    assert [color for color, _ in entries] == ["record", "curator", "bit", "ink"]
    assert entries[0][1].startswith("my answer: R &gt; e<sup>2</sup> with probability")
    assert "legend" not in figure


def test_without_matplotlib_the_page_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers come all the same."""
    monkeypatch.setattr("krand.figures.style.is_available", lambda: False)
    settings = settings_from({"crowd": "1M", "bits": "1"})
    figure = density_part(settings)
    assert "matplotlib is not installed" in figure
    assert "<svg" not in figure
    assert 'id="noise-value"' in numbers_part(settings)


def test_a_frontier_without_any_way_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure of the others alone would answer nothing."""
    monkeypatch.setattr("krand.web.numbers.FRONTIER_COPIES", (1,))
    page = frontier_part(settings_from({"epsilon": "0.1", "crowd": "100"}))
    assert 'id="frontier-nothing"' in page
    assert "<svg" not in page


@pytest.mark.parametrize(
    ("query", "command"),
    [
        ({}, "krand noise --crowd 10M --bits 40 --epsilon 2 --delta 1e-6"),
        (
            {"promise": "eta", "linkage": "record", "copies": "16", "max_set_bits": "3"},
            "krand noise --crowd 10M --bits 40 --epsilon 2 --eta 0.003 --max-set-bits 3"
            " --linkage record --copies 16",
        ),
    ],
)
def test_the_command_line_of_a_form_asks_the_same(query: dict[str, Any], command: str) -> None:
    """What the page says to type is understood by krand noise."""
    assert settings_from(query).command() == command
