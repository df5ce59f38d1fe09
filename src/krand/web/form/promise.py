"""The promise of a plan in the sentences of its form: rendered here, shown by the script.

The numbers are those of the plan; who takes part is called by the plan's names.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any

from krand.languages.catalogs import nested
from krand.languages.cldr import ENGLISH, plural_form
from krand.promise import Linkage
from krand.survey.plan import Plan
from krand.wording.number_format import NumberFormat, number_format
from krand.wording.phrases import listed
from krand.wording.promises import REAL, SLIGHT, WEAK, factor_number, in_rounds, right_in

RIGHT_TO_LEFT = ("ar", "fa", "he", "ur")
ISOLATE, LEFT_TO_RIGHT, END = "\u2068", "\u2066", "\u2069"
FORMULA = re.compile(f"(ε₀|ε|δ|η) ([=≤]) {ISOLATE}([^{ISOLATE}{END}]*){END}")


@cache
def english() -> dict[str, Any]:
    """The form's sentences that are rendered here, and what it says where no script runs."""
    return tomllib.loads((files("krand.web.form") / "texts_en.toml").read_text("utf-8"))


def promise_texts(plan: Plan, language: str) -> dict[str, Any]:
    """What the form says of the promise in a language that it has, by the parts of its pages."""
    return _Wording(plan, language).all()


class _Wording:
    """One plan in one language."""

    def __init__(self, plan: Plan, language: str) -> None:
        self.plan, self.language = plan, language
        self.survey, self.policy, self.trust = plan.survey, plan.survey.policy, plan.survey.trust
        self.numbers: NumberFormat = number_format(language)
        english_texts = english()["promise"]
        self.texts = english_texts if language == ENGLISH else nested(language, "form")["promise"]
        self.devices = not self.trust.has_dummies
        self.crowd = self.numbers.whole(self.policy.minimum_crowd)
        others = [places[0] for places in plan.other_parties]
        self.others = [plan.mixers[place - 1].name for place in others if plan.mixers]
        self.local = plan.local_epsilon

    def all(self) -> dict[str, Any]:
        """Every part."""
        return {
            "hand": self.hand(),
            "through": self.through(),
            "guess": self.guess(),
            "leaves": self.leaves(),
            "holds": self.holds(),
            "promise": self.promise(),
            "assumptions": self.assumptions(),
            "why": self.why(),
        }

    def say(self, name: str, number: int | None = None, /, **values: str) -> str:
        """A sentence, filled in; from right to left, what is filled in keeps its own order."""
        text: Any = self.texts
        for part in name.split("."):
            text = text[part]
        if isinstance(text, Mapping):
            assert number is not None
            text = text[plural_form(self.language, number)]
            values.setdefault("number", self.numbers.whole(number))
        if self.language not in RIGHT_TO_LEFT:
            return str(text.format(**values))
        isolated = {key: value and f"{ISOLATE}{value}{END}" for key, value in values.items()}
        formula = f"{LEFT_TO_RIGHT}\\1\N{NO-BREAK SPACE}\\2\N{NO-BREAK SPACE}\\3{END}"
        return FORMULA.sub(formula, text.format(**isolated))

    def names(self, names: list[str]) -> str:
        """Works council, University and Union; who is not named yet is the collector."""
        if self.language in RIGHT_TO_LEFT:
            names = [f"{ISOLATE}{name}{END}" for name in names]
        told = listed(names or [self.texts["theCollector"]], self.texts["allOf"])
        return told.replace(f"{END}, ", f"{END}، ") if self.language == "ar" else told

    def hand(self) -> str | None:
        """What the organiser can learn, and whom the promise is about; None if others mix too."""
        if not self.trust.in_one_hand:
            return None
        hand = self.say("hand", self.trust.mixers)
        seen = self.local <= SLIGHT
        name = "organiserSees" if seen else "organiserReads"
        organiser = self.say(name, hand=hand, said=self.remains(), epsilon=self.local_text())
        return self.say("oneHand", organiser=organiser)

    def through(self) -> str:
        """Which mixers the answers pass, and who could learn them together."""
        if self.trust.in_one_hand or self.devices:
            return ""
        everybody = self.names(list(dict.fromkeys(mixer.name for mixer in self.plan.mixers)))
        if self.trust.analyst_runs:
            return self.say("throughAnalyst", names=everybody)
        return self.say("through", len(self.others), names=everybody)

    def guess(self) -> str:
        """The promise as the chance of a right guess, in whole numbers."""
        found, rounds = right_in(self.policy.epsilon, self.policy.asked), self.rounds()
        if found is None:
            return self.say("guessAlways", rounds=rounds)
        right, of = found
        results = self.texts["onlyResults" if self.trust.in_one_hand else "results"]
        shown = {"right": right, "of": of, "half": of // 2}
        values = {name: self.numbers.whole(value) for name, value in shown.items()}
        return self.say("guess", results=results, rounds=rounds, **values)

    def leaves(self) -> list[str]:
        """What leaves the device, and what happens to it."""
        if self.trust.in_one_hand:
            if self.devices:
                return [self.say("flips"), self.say("keptByOrganiser")]
            return [self.say("sealedForOrganiser"), self.say("mixedByOrganiser")]
        if self.devices:
            return [self.say("flips"), self.say("passedByCollector", crowd=self.crowd)]
        mixers = list(dict.fromkeys(mixer.name for mixer in self.plan.mixers))
        passed = self.say("passedByMixers", self.trust.mixers, names=self.names(mixers))
        return [self.say("noFlips"), passed]

    def holds(self) -> str:
        """How it is known, when it holds, and what remains otherwise."""
        if self.trust.in_one_hand:
            held = "holdsInCrowdOfReaders" if self.devices else "holdsIfOrganiserAdds"
            return f"{self.say('known')} {self.say(held, crowd=self.crowd)}"
        if self.devices:
            held = self.say("holdsInCrowd", crowd=self.crowd, said=self.remains())
        else:
            held = self.say("holdsWithMixers", **self.mixers(), said=self.remains())
        return " ".join(filter(None, (self.say("known"), self.also_runs(), held)))

    def promise(self) -> str:
        """What nobody can learn, in the symbols of the proof."""
        epsilon, slack = self.policy.epsilon, "slackEta" if self.policy.eta else "slackDelta"
        at_most = self.numbers.at_most
        ratio = factor_number(epsilon, self.numbers)
        given = {
            "rounds": self.rounds(),
            "factor": self.say("factor", ratio=ratio, epsilon=at_most(epsilon)),
            "slack": self.say(slack, value=at_most(self.policy.asked)),
            "how_known": self.say("howKnown"),
        }
        colluding, hand = self.policy.colluding, self.hand()
        if hand is not None:
            condition = (
                self.say("ifCrowd", crowd=self.crowd) if self.devices else self.say("ifNoise")
            )
            others = self.say("readerHelpers", colluding) if colluding else ""
            if not self.devices:
                others = f" {self.say('howeverFew')}"
            said = partial(self.say, "promiseToReaders", one_hand=hand, condition=condition)
            return said(others=others, **given)
        if self.devices:
            helpers = self.say("helpers", colluding) if colluding else ""
            told = self.say("ifTheyCollude", said=self.remains(), epsilon=self.local_text())
            return self.say(
                "promise", crowd=self.crowd, helpers=helpers, if_they_collude=told, **given
            )
        one, everybody = self.mixers().values()
        otherwise = self.say("noHonestMixer", all_mixers=everybody)
        few = self.say("howeverFew")
        said = partial(self.say, "promiseOfMixers", one_mixer=one, however_few=few)
        return f"{self.also_runs()} {said(otherwise=otherwise, **given)}".strip()

    def assumptions(self) -> list[str]:
        """Everything that it rests on."""
        if not self.devices:
            codes = ["one-honest-mixer", "seals-hold", "participation-visible"]
        else:
            codes = ["honest-crowd", "collector-keeps-secrets", "participation-visible"]
            blocks, record = self.plan.layout.blocks, self.survey.linkage is Linkage.RECORD
            if record and any(2 * block.most_ones < block.positions for block in blocks):
                codes.append("limited-answers")
        return [self.assumption(code) for code in codes]

    def assumption(self, code: str) -> str:
        if self.trust.in_one_hand and code in self.texts["handAssumptions"]:
            return self.say(f"handAssumptions.{code}")
        colluding, whole = self.policy.colluding, self.numbers.whole
        honest = whole(self.policy.minimum_crowd - colluding)
        text = self.say(f"assumptions.{code}", honest=honest)
        if code != "honest-crowd" or not colluding:
            return text
        return self.say("colluders", crowd=text, colluding=whole(colluding))

    def why(self) -> str:
        """Why an answer is protected that leaves the device as it is."""
        if self.devices:
            return self.hand() or self.say("whyInCrowd", crowd=self.crowd)
        return self.hand() or self.say("whyWithMixers")

    def rounds(self) -> str:
        texts = self.texts
        return in_rounds(self.survey, self.policy, texts["rounds"], texts["period"], self.numbers)

    def also_runs(self) -> str:
        """Which mixers the analyst runs too; empty if it runs none."""
        mixers = self.plan.mixers
        named = {place: mixer.name for place, mixer in enumerate(mixers, 1) if place > 1}
        collector = self.texts["theCollector"]
        roles = [named.get(place, collector) for place in self.trust.analyst_runs]
        return self.say("alsoRuns", roles=self.names(roles)) if roles else ""

    def mixers(self) -> dict[str, str]:
        """One of the other parties, and all of them."""
        names = self.names(self.others)
        one = self.say("oneMixer", len(self.plan.other_parties), names=names)
        return {"one_mixer": one, "all_mixers": names}

    def remains(self) -> str:
        """How much protection the noise of one device gives."""
        names = ("real", REAL), ("weak", WEAK), ("slight", SLIGHT), ("none", math.inf)
        return self.say("protections." + next(name for name, most in names if self.local <= most))

    def local_text(self) -> str:
        return "∞" if math.isinf(self.local) else self.numbers.at_most(self.local)
