"""The published description is true: schemathesis asks what it allows, and what it does not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from urllib.request import urlopen

import pytest
from hypothesis import HealthCheck, settings

from collecting import body_of, people_in, quick_folder, serving, spool_config
from components import require
from krand.collector.openapi import describe_api
from krand.collector.sqlite.spool import Spool

schemathesis = require("schemathesis")
require("starlette")
require("uvicorn")

from schemathesis import checks  # noqa: E402
from schemathesis.specs.openapi import checks as conformance  # noqa: E402

EXAMPLES = 100
CHECKS = [
    checks.not_a_server_error,
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_headers_conformance,
    conformance.response_schema_conformance,
    conformance.unsupported_method,
]
"""Not whether random bytes are accepted: a description cannot say what a submission is inside."""


CONFIG = spool_config(10**6)
schema = schemathesis.openapi.from_dict(describe_api(CONFIG))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Of a collector that runs; in the end it holds whoever was acknowledged, and nobody else."""
    with quick_folder() as folder:
        spool = Spool(folder / "spool", CONFIG)
        with serving(spool) as port:
            yield f"http://127.0.0.1:{port}"
        with Spool(folder / "spool", CONFIG) as again:
            assert people_in(again) == len(ACCEPTED)
            again.check()


ACCEPTED: set[bytes] = set()
SEEN: Counter[int] = Counter()


@pytest.mark.check
@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_one_that_is_described(case: schemathesis.Case, url: str) -> None:
    """No status of 500 or above, and form and type of every answer as described."""
    response = case.call_and_validate(base_url=url, checks=CHECKS)
    SEEN[response.status_code] += 1
    assert response.status_code < 500
    if response.status_code == 202:
        ACCEPTED.add(bytes(response.request.body[3:19]))


def test_a_submission_is_answered_as_described(url: str) -> None:
    """What schemathesis cannot guess: the first time, again, and with a body of another kind."""
    operation = schema["/v1/{plan}/submissions"]["POST"]
    body = body_of(1, CONFIG.format)
    ACCEPTED.add(body[3:19])
    for sent, status in ((body, 202), (body, 202), (body[:-1], 422), (body * 9, 413)):
        case = operation.Case(
            path_parameters={"plan": CONFIG.plan_hash},
            body=sent,
            media_type="application/octet-stream",
        )
        assert case.call_and_validate(base_url=url, checks=CHECKS).status_code == status


def test_what_is_published_is_the_description(url: str) -> None:
    """At the address where clients and proxies look for it."""
    with urlopen(f"{url}/openapi.json") as answer:
        assert json.load(answer) == describe_api(CONFIG)


def test_the_description_knows_every_page() -> None:
    """And gives the lengths of bodies that are taken."""
    limits = spool_config(1000)
    api = describe_api(limits)
    assert set(api["paths"]) == {
        *(
            "/v1/{plan}/submissions",
            "/v1/{plan}/status",
            "/healthz",
            "/readyz",
            "/openapi.json",
        )
    }
    post = api["paths"]["/v1/{plan}/submissions"]["post"]
    body = post["requestBody"]["content"]["application/octet-stream"]["schema"]
    assert body["minLength"] == len(body_of(1, limits.format))
    assert body["maxLength"] == limits.format.length
    assert json.loads(json.dumps(api)) == api
