"""The sentences that several rooms show, in German; the form's words for the same things.

`\\u202f` is the narrow space that German puts before the sign of percent.
"""

from __future__ import annotations

from types import MappingProxyType

from krand.batches.provenance import Provenance
from krand.promise import Assumption, Method
from krand.wording.number_format import NumberFormat
from krand.wording.texts import (
    AboutTexts,
    BothTexts,
    CoalitionTexts,
    CollusionTexts,
    DevicesTexts,
    GuaranteeTexts,
    MixersTexts,
    PhraseTexts,
    Plural,
    ProvenanceTexts,
    RecordsTexts,
    SummaryTexts,
    Texts,
    TokensTexts,
)

__all__ = ["GERMAN"]

GUARANTEES = GuaranteeTexts(
    methods=MappingProxyType(
        {
            Method.EXACT_BITS: "für jedes Bit die ungünstigsten Antworten der anderen, alle Bits"
            " zusammengesetzt",
            Method.BLANKET_BITS: "Privacy Blanket jedes Bits, alle Bits zusammengesetzt: Für das"
            " exakte Gesetz sind es zu viele Personen",
            Method.UNIFORM_BITS: "exaktes Gesetz jedes Bits, wenn alle anderen gleich antworten,"
            " alle Bits zusammengesetzt",
            Method.PRIVACY_BLANKET: "Privacy Blanket des Datensatzes, alle Kopien zusammengesetzt",
            Method.UNIFORM_RECORDS: "exaktes Gesetz des Datensatzes im ungünstigsten Fall, in dem"
            " alle anderen gleich antworten, alle Kopien zusammengesetzt",
            Method.DUMMIES: "exaktes Gesetz der Blindnachrichten eines ehrlichen Mischers, alle"
            " Positionen zusammengesetzt",
            Method.FLIPS_AND_DUMMIES: "für jedes Bit die ungünstigsten Antworten der anderen, mit"
            " den Blindnachrichten aller Mischer, alle Bits zusammengesetzt",
            Method.LOCAL_NOISE: "das Rauschen jedes Geräts allein: Der Sammelstelle muss niemand"
            " vertrauen",
            Method.NONE: "keines: Dieser Plan ist für Tests und verbirgt niemanden",
        }
    ),
    converted="{method}; η folgt aus δ",
    assumptions=MappingProxyType(
        {
            Assumption.HONEST_CROWD: "mindestens {honest} ehrliche Personen antworten im selben"
            " Paket",
            Assumption.COLLECTOR_KEEPS_SECRETS: "die Sammelstelle entfernt Identität, Reihenfolge"
            " und Zeit und arbeitet nicht mit der auswertenden Stelle zusammen",
            Assumption.DATA_HOLDER_KEEPS_SECRETS: "die datenhaltende Stelle, die alle Antworten"
            " sah, gibt nur die verrauschten Antworten weiter und hat die Antworten aller"
            " genau einmal verrauscht",
            Assumption.ONE_HONEST_MIXER: "mindestens einer der Mischer des Plans hält sich an die"
            " Regeln; alle anderen Mischer und Personen dürfen mit der auswertenden Stelle"
            " zusammenarbeiten",
            Assumption.SEALS_HOLD: "niemand öffnet eine versiegelte Nachricht (HPKE) ohne ihren"
            " Schlüssel",
            Assumption.PARTICIPATION_VISIBLE: "die Antworten einer Person sind verborgen; dass sie"
            " teilgenommen hat, ist es nicht",
            Assumption.OUTLIER_IS_WORST: "andere Angriffe als der auf einen Ausreißer beruhen auf"
            " einer Vermutung der ersten Arbeiten zu diesem Verfahren",
            Assumption.LIMITED_ANSWERS: "keine wahre Antwort setzt mehr Bits, als ihre Frage"
            " erlaubt",
        }
    ),
    colluders=(
        "{crowd} (weitere, die mit der auswertenden Stelle zusammenarbeiten dürfen: {colluding})"
    ),
)

PROVENANCE = ProvenanceTexts(
    how_noisy=MappingProxyType(
        {
            "devices": "Jedes Gerät hat Rauschen hinzugefügt, bevor es etwas gesendet hat.",
            "table": "Eine datenhaltende Stelle hatte alle Antworten in einer Tabelle, konnte sie"
            " sehen und hat sie verrauscht, bevor sie sie weitergab.",
            "simulation": "Niemand wurde gefragt: Die Personen und ihre Antworten sind simuliert.",
        }
    ),
    declared=MappingProxyType(
        {
            "data_holder": "Die datenhaltende Stelle hat in den Dateien erklärt, dass die {files}"
            " Dateien von verschiedenen Personen handeln. Kommt jemand in zwei davon vor, so wurde"
            " mehr preisgegeben, als die Garantie sagt.",
            "analyst": "Die auswertende Stelle, die sie gezählt hat, hat erklärt, dass die {files}"
            " Dateien von verschiedenen Personen handeln; in den Dateien steht davon nichts. Kommt"
            " jemand in zwei davon vor, so wurde mehr preisgegeben, als die Garantie sagt.",
        }
    ),
)

COLLUSION = CollusionTexts(
    real="ein wirklicher Schutz",
    weak="nur ein schwacher Schutz",
    slight="kaum ein Schutz",
    none="kein Schutz",
    remains="bleibt {protection}",
    there_is="besteht {protection}",
    flips_void=(
        "An einem Paket haben weniger als die {crowd} Personen teilgenommen, für die das"
        " Rauschen der Geräte geplant war; darum verspricht dieses Rauschen allein nichts. Das"
        " Versprechen der Mischer gilt trotzdem"
    ),
    flips_kept=(
        "Das Rauschen der Geräte allein verspricht diesen Teilnehmenden ε = {epsilon}, {slack},"
        " auch wenn kein Mischer Blindnachrichten hinzufügt; es sei denn, dass Sammelstelle und"
        " auswertende Stelle zusammenarbeiten"
    ),
    if_no_mixer=Plural(
        "Das Versprechen gilt, solange sich die Sammelstelle, der einzige Mischer, an die Regeln"
        " hält, was immer alle anderen tun. Wenn die Sammelstelle mit der auswertenden Stelle"
        " zusammenarbeitet, {said} (ε₀ = {epsilon})",
        "Das Versprechen gilt, solange sich einer der {number} Mischer an die Regeln hält, was"
        " immer alle anderen tun. Wenn alle Mischer mit der auswertenden Stelle zusammenarbeiten,"
        " {said} (ε₀ = {epsilon})",
    ),
    mixers=Plural(
        "Das Versprechen gilt, solange sich die Sammelstelle, der einzige Mischer, an die Regeln"
        " hält, was immer alle anderen tun. Wenn die Sammelstelle mit der auswertenden Stelle"
        " zusammenarbeitet, besteht kein Schutz",
        "Das Versprechen gilt, solange sich einer der {number} Mischer an die Regeln hält, was"
        " immer alle anderen tun. Wenn alle Mischer mit der auswertenden Stelle zusammenarbeiten,"
        " besteht kein Schutz",
    ),
)

ABOUT = AboutTexts(
    survey="Umfrage",
    organiser="Durchgeführt von",
    contact="Kontakt",
    closes="Letzter Tag für Antworten",
)

COALITIONS = CoalitionTexts(
    held="die auswertende Stelle allein: {holders}",
    one_of="{first} oder {last}",
    all_of="{first} und {last}",
    holders=Plural(
        "Laut Signatur wurden die Nachrichten von {holders} gezählt, wofür der Schlüssel der"
        " auswertenden Stelle nötig ist: Das ist die auswertende Stelle dieser Tabelle.",
        "Laut Signaturen wurden die Nachrichten von {holders} gezählt, wofür der Schlüssel der"
        " auswertenden Stelle nötig ist. Jede dieser Stellen ist eine auswertende Stelle im Sinne"
        " der Tabelle: Es genügt, wenn eine von ihnen mit anderen zusammenarbeitet.",
    ),
    people=Plural(
        "die auswertende Stelle und 1 von {crowd} Personen",
        "die auswertende Stelle und {number} von {crowd} Personen",
    ),
    with_one_mixer=MappingProxyType(
        {
            "analyst": "die auswertende Stelle allein",
            "all-but-one-mixer": "die auswertende Stelle und alle anderen Personen, aber nicht die"
            " Sammelstelle",
            "all-mixers": "die auswertende Stelle und die Sammelstelle",
            "everybody": "alle außer dem eigenen Gerät der Person",
            "page-host": "wer das Webformular bereitstellt, bei Personen, die es benutzen",
        }
    ),
    with_several_mixers=MappingProxyType(
        {
            "analyst": "die auswertende Stelle allein",
            "other-mixers": "die auswertende Stelle und {number} von {mixers} Mischern",
            "all-but-one-mixer": "die auswertende Stelle, alle anderen Personen und {number} von"
            " {mixers} Mischern",
            "all-mixers": "die auswertende Stelle und alle {mixers} Mischer",
            "everybody": "alle außer dem eigenen Gerät der Person",
            "page-host": "wer das Webformular bereitstellt, bei Personen, die es benutzen",
        }
    ),
    delta="ε = {epsilon}, δ = {delta}",
    eta="ε = {epsilon}, η = {eta}",
    together="{remains}, durch Rauschen der Geräte und Blindnachrichten zusammen",
    local="{protection} (ε₀ = {epsilon})",
    nothing="kein Schutz",
)

SUMMARIES = SummaryTexts(
    names=MappingProxyType(
        {"mean": "Mittelwert", "top_box": "Top-Box", "bottom_box": "Bottom-Box"}
    ),
    box="{name}, {answers}",
    two="{first} und {last}",
    several="{first} bis {last}",
    value="{name} {value} ({low} bis {high})",
    share="{name}: {value} ({low} bis {high}) derer, die geantwortet haben",
)

PHRASES = PhraseTexts(
    evenly=(
        "Schätzwerte nehmen an, dass die Werte in jedem Bereich gleichmäßig verteilt sind;"
        " Intervalle nicht"
    ),
    open_both=(
        "der Mittelwert lässt sich nicht schätzen: Der unterste und der oberste Bereich sind offen"
    ),
    open_above=(
        "der Mittelwert lässt sich nicht schätzen: Der oberste Bereich ist offen; der Mittelwert"
        " ist mindestens {bound}"
    ),
    open_below=(
        "der Mittelwert lässt sich nicht schätzen: Der unterste Bereich ist offen; der Mittelwert"
        " ist höchstens {bound}"
    ),
    refused=Plural(
        "{number} Nachricht wurde abgewiesen ({reasons}) und nicht gezählt. {senders} hilft"
        " vielleicht nicht, jemanden zu verbergen. Das Versprechen rechnete mit {planned}; im"
        " schlimmsten Fall ist ihre Zahl nun {colluding} unter {crowd}, also ist {name} = {now}."
        " Die Umfrage hat {asked} versprochen.",
        "{number} Nachrichten wurden abgewiesen ({reasons}) und nicht gezählt. {senders} helfen"
        " vielleicht nicht, jemanden zu verbergen. Das Versprechen rechnete mit {planned}; im"
        " schlimmsten Fall ist ihre Zahl nun {colluding} unter {crowd}, also ist {name} = {now}."
        " Die Umfrage hat {asked} versprochen.",
    ),
    refused_mixed=Plural(
        "{number} Nachricht wurde abgewiesen ({reasons}) und nicht gezählt. Das Versprechen hängt"
        " nicht davon ab.",
        "{number} Nachrichten wurden abgewiesen ({reasons}) und nicht gezählt. Das Versprechen"
        " hängt nicht davon ab.",
    ),
    reason="{number}-mal {why}",
    reasons=MappingProxyType(
        {
            "wrong_length": "falsche Länge",
            "not_sealed_for_this_key_or_plan": "nicht für diesen Schlüssel oder Plan versiegelt",
            "unknown_version": "unbekannte Version",
            "unknown_kind": "unbekannte Art",
            "position_out_of_range": "Position außerhalb des Bereichs",
            "outside_its_lane": "außerhalb ihrer Spur",
            "padding_not_zero": "Füllung nicht null",
            "repeated": "wiederholt",
        }
    ),
    sender="Wer sie gesendet hat,",
    senders="Die {most} Personen, die sie gesendet haben,",
    senders_between="Die {least} bis {most} Personen, die sie gesendet haben,",
    no_such_people="keiner solchen Person",
    such_people=Plural("{number} solchen Person", "{number} solchen Personen"),
    factor="{ratio} ({name} = {epsilon})",
)

DEVICES = DevicesTexts(
    badge="Auf jedem Gerät verrauscht",
    relies_on=(
        "Dafür braucht es viele Teilnehmende, hier {crowd} Personen, und eine Sammelstelle, die"
        " nicht mit der auswertenden Stelle zusammenarbeitet."
    ),
    people_needed="mindestens {crowd} waren nötig",
    nobody_colludes=(
        "Das Versprechen setzt voraus, dass niemand von den Teilnehmenden der auswertenden Stelle"
        " hilft."
    ),
    as_if_refused=Plural(
        "Das Versprechen ist so berechnet, als käme die abgewiesene Nachricht von einer weiteren"
        " Person, die nichts verrauscht hat. Es setzt voraus, dass sonst niemand der auswertenden"
        " Stelle hilft.",
        "Das Versprechen ist so berechnet, als käme jede von {number} abgewiesenen Nachrichten von"
        " einer weiteren Person, die nichts verrauscht hat. Es setzt voraus, dass sonst niemand der"
        " auswertenden Stelle hilft.",
    ),
    even_if=Plural(
        "Das Versprechen gilt auch, wenn {number} teilnehmende Person der auswertenden Stelle alles"
        " sagt, was sie weiß, ihre eigenen Antworten und ihr Rauschen{beside}.",
        "Das Versprechen gilt auch, wenn {number} der Teilnehmenden der auswertenden Stelle alles"
        " sagen, was sie wissen, ihre eigenen Antworten und ihr Rauschen{beside}.",
    ),
    beside=", und {number} weitere die abgewiesenen Nachrichten gesendet haben",
    collusion="Wenn Sammelstelle und auswertende Stelle zusammenarbeiten",
    collusion_text=(
        "Dann {remains}. Sie können die Nachrichten jeder Person für sich ansehen, in denen nur das"
        " Rauschen des Geräts dieser Person bleibt: Die Chancen einer Antwortreihe gegenüber einer"
        " anderen können sich um einen Faktor bis zu {factor} ändern. Das Versprechen oben beruht"
        " darauf, dass die Sammelstelle Wort hält."
    ),
    collusion_plain=(
        "{remains}: Zusammen können die beiden die Antworten einer Person womöglich offen in deren"
        " Nachrichten sehen"
    ),
    coalitions_lead=(
        "Das Versprechen schützt vor der auswertenden Stelle. Wenn Teilnehmende ihr zeigen, was"
        " sie gesendet haben, wird es schwächer. Wenn die Sammelstelle oder alle anderen mit der"
        " auswertenden Stelle zusammenarbeiten, bleibt nur das Rauschen Ihres eigenen Geräts."
    ),
    one_noise=MappingProxyType(
        {
            Provenance.DEVICES: "Jedes Bit wurde mit der Wahrscheinlichkeit q = {noise} umgedreht,"
            " bevor es gesendet wurde.",
            Provenance.TABLE: "Jedes Bit wurde mit der Wahrscheinlichkeit q = {noise} umgedreht,"
            " bevor es weitergegeben wurde.",
            Provenance.SIMULATION: "Jedes Bit wurde mit der Wahrscheinlichkeit q = {noise}"
            " umgedreht.",
        }
    ),
    noises=MappingProxyType(
        {
            Provenance.DEVICES: "Jedes Bit wurde, bevor es gesendet wurde, mit einer"
            " Wahrscheinlichkeit von q = {least} bis {most} umgedreht, je nach Frage.",
            Provenance.TABLE: "Jedes Bit wurde, bevor es weitergegeben wurde, mit einer"
            " Wahrscheinlichkeit von q = {least} bis {most} umgedreht, je nach Frage.",
            Provenance.SIMULATION: "Jedes Bit wurde mit einer Wahrscheinlichkeit von q = {least}"
            " bis {most} umgedreht, je nach Frage.",
        }
    ),
    blocks_caption="Wie oft ein Bit jeder Frage umgedreht wird",
    blocks_noise="Rauschen q",
    signed=(
        "Keine Datei kann zeigen, dass die Sammelstelle ehrlich gezählt hat. Die Sammelstelle"
        " signiert, was sie gezählt hat, und {command} prüft die Signatur."
    ),
)

MIXERS = MixersTexts(
    badge=Plural("Von der Sammelstelle verrauscht", "Von {number} Mischern verrauscht"),
    how_noisy=(
        "Mischer haben Blindnachrichten hinzugefügt, die jede Antwort in den Zählungen verbergen."
    ),
    relies_on=Plural(
        "Es gilt unabhängig davon, wie viele teilnehmen, solange sich die Sammelstelle an die"
        " Regeln hält.",
        "Es gilt unabhängig davon, wie viele teilnehmen, solange sich einer der {number} Mischer an"
        " die Regeln hält.",
    ),
    any_crowd="das Versprechen braucht keine Mindestzahl",
    anybody_colludes=(
        "Das Versprechen gilt auch, wenn alle anderen Teilnehmenden der auswertenden Stelle alles"
        " sagen, was sie wissen."
    ),
    collusion="Wenn Mischer und auswertende Stelle zusammenarbeiten",
    coalitions_lead=(
        "Wer auch sonst mit der auswertenden Stelle zusammenarbeitet: Das Versprechen gilt,"
        " solange sich ein Mischer an die Regeln hält; die Sammelstelle ist der erste Mischer."
        " Wenn alle Mischer mit der auswertenden Stelle zusammenarbeiten, schützt Sie nichts."
    ),
    no_flips="Die Geräte haben nichts verrauscht.",
    dummies=Plural(
        "{flips} Die Sammelstelle, der einzige Mischer, hat zu jeder Position bis zu {most}"
        " Blindnachrichten hinzugefügt, zufällig viele und versiegelt wie die aller. Die"
        " auswertende Stelle zieht ab, wie viele es im Mittel sind.",
        "{flips} Jeder von {number} Mischern hat zu jeder Position bis zu {most} Blindnachrichten"
        " hinzugefügt, zufällig viele und versiegelt wie die aller. Die auswertende Stelle zieht"
        " ab, wie viele es im Mittel sind.",
    ),
    blocks_caption="Standardabweichung des Rauschens in jeder Anzahl, in Personen",
    blocks_noise="Rauschen σ",
    signed=(
        "Keine Datei kann zeigen, dass die Sammelstelle die Personen ehrlich gezählt hat oder dass"
        " die Mischer ihr Rauschen wie geplant gezogen haben. Alle signieren, wie viele Nachrichten"
        " gekommen und weitergegeben worden sind, und {command} prüft diese Signaturen; die"
        " Schlüssel aller Mischer stehen im Plan."
    ),
)

BOTH = BothTexts(
    badge=Plural(
        "Auf jedem Gerät und von der Sammelstelle verrauscht",
        "Auf jedem Gerät und von {number} Mischern verrauscht",
    ),
    how_noisy=(
        "Jedes Gerät hat Rauschen hinzugefügt, und Mischer haben Blindnachrichten hinzugefügt."
    ),
    coalitions_lead=(
        "Wer auch sonst mit der auswertenden Stelle zusammenarbeitet: Das Versprechen gilt,"
        " solange sich ein Mischer an die Regeln hält; die Sammelstelle ist der erste Mischer."
        " Wenn alle Mischer mit der auswertenden Stelle zusammenarbeiten, bleibt nur das Rauschen"
        " Ihres eigenen Geräts."
    ),
    flips="Was das Rauschen der Geräte hinzufügt",
)

TOKENS = TokensTexts(
    messages=Plural(
        "Jede Position, die ein Gerät als Ja meldet, wurde für sich in einer versiegelten Nachricht"
        " gesendet; eine Position ist ein Ja oder Nein zu einer Antwort. Jede Person hat {number}"
        " Nachricht gesendet, die leer sein kann, und die Nachrichten aller wurden zusammen"
        " gemischt. Niemand kann hinterher erkennen, welche Nachrichten von derselben Person"
        " kamen; darum lassen sich Fragen nur dort zusammen betrachten, wo das geplant war, bevor"
        " jemand geantwortet hat.",
        "Jede Position, die ein Gerät als Ja meldet, wurde für sich in einer versiegelten Nachricht"
        " gesendet; eine Position ist ein Ja oder Nein zu einer Antwort. Jede Person hat {number}"
        " Nachrichten gesendet, von denen manche leer sein können, und die Nachrichten aller wurden"
        " zusammen gemischt. Niemand kann hinterher erkennen, welche Nachrichten von derselben"
        " Person kamen; darum lassen sich Fragen nur dort zusammen betrachten, wo das geplant war,"
        " bevor jemand geantwortet hat.",
    ),
    messages_simulation=Plural(
        "Die Personen sind simuliert. In einer Umfrage wird jede Position, die ein Gerät als Ja"
        " meldet, für sich in einer versiegelten Nachricht gesendet; eine Position ist ein Ja oder"
        " Nein zu einer Antwort. Jede Person sendet {number} Nachricht, die leer sein kann, und die"
        " Nachrichten aller werden zusammen gemischt. Niemand kann hinterher erkennen, welche"
        " Nachrichten von derselben Person kamen; darum lassen sich Fragen nur dort zusammen"
        " betrachten, wo das geplant war, bevor jemand geantwortet hat.",
        "Die Personen sind simuliert. In einer Umfrage wird jede Position, die ein Gerät als Ja"
        " meldet, für sich in einer versiegelten Nachricht gesendet; eine Position ist ein Ja oder"
        " Nein zu einer Antwort. Jede Person sendet {number} Nachrichten, von denen manche leer"
        " sein können, und die Nachrichten aller werden zusammen gemischt. Niemand kann hinterher"
        " erkennen, welche Nachrichten von derselben Person kamen; darum lassen sich Fragen nur"
        " dort zusammen betrachten, wo das geplant war, bevor jemand geantwortet hat.",
    ),
    bits_of_a_table=(
        "Die datenhaltende Stelle sah alle Antworten. Sie hat Bits der Antworten aller zufällig"
        " umgedreht und weitergegeben, wie oft jede Position, ein Ja oder Nein zu einer Antwort,"
        " als Ja herauskam. Niemand kann hinterher erkennen, was davon von derselben Person kam;"
        " darum lassen sich Fragen nur dort zusammen betrachten, wo das geplant war, bevor jemand"
        " geantwortet hat."
    ),
)

RECORDS = RecordsTexts(
    copies=Plural("eine verrauschte Kopie", "{number} je für sich verrauschte Kopien"),
    records=MappingProxyType(
        {
            Provenance.DEVICES: "Jede Person hat {copies} des ganzen Datensatzes von {bits} Bits"
            " gesendet. Die Datensätze aller wurden gemischt.",
            Provenance.TABLE: "Die datenhaltende Stelle sah alle Antworten. Für jede Person hat sie"
            " {copies} des ganzen Datensatzes von {bits} Bits weitergegeben, in zufälliger"
            " Reihenfolge.",
            Provenance.SIMULATION: "Die Personen sind simuliert. Jede hat {copies} des ganzen"
            " Datensatzes von {bits} Bits, in zufälliger Reihenfolge.",
        }
    ),
    whole=(
        "Alle Antworten einer Person bleiben in einem Datensatz zusammen, darum lassen sich"
        " beliebige Fragen zusammen betrachten. Das braucht mehr Rauschen."
    ),
    averaged="Der Mittelwert der Kopien ist weniger verrauscht als eine Kopie.",
)

GERMAN = Texts(
    numbers=NumberFormat(thousands=".", decimal=",", percent="{number}\u202f%"),
    guarantees=GUARANTEES,
    provenance=PROVENANCE,
    collusion=COLLUSION,
    about=ABOUT,
    coalitions=COALITIONS,
    summaries=SUMMARIES,
    phrases=PHRASES,
    devices=DEVICES,
    mixers=MIXERS,
    both=BOTH,
    tokens=TOKENS,
    records=RECORDS,
)
