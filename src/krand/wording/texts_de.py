"""The sentences that several rooms show, in German; the form's words for the same things.

`\\u202f` is the narrow space that German puts before the sign of percent.
"""

from __future__ import annotations

from types import MappingProxyType

from krand.promise import Assumption, Assurance, Method
from krand.wording.number_format import NumberFormat
from krand.wording.texts import (
    AboutTexts,
    CoalitionTexts,
    CollusionTexts,
    GuaranteeTexts,
    PhraseTexts,
    PlanTexts,
    Plural,
    ProvenanceTexts,
    SummaryTexts,
    Texts,
)

__all__ = ["GERMAN"]

GUARANTEES = GuaranteeTexts(
    assurances=MappingProxyType(
        {
            Assurance.CERTIFIED: "bewiesen, was immer die anderen antworten",
            Assurance.OUTLIER: "nicht bewiesen: exakt für den Angriff, den die Entwürfe"
            " untersuchen, sonst eine Vermutung",
        }
    ),
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
    noisy_by_both=(
        "Jedes Gerät hat Rauschen hinzugefügt, und Mischer haben Blindnachrichten hinzugefügt."
    ),
    noisy_by_mixers=(
        "Mischer haben Blindnachrichten hinzugefügt, die jede Antwort in den Zählungen verbergen."
    ),
    trusted=MappingProxyType(
        {
            "devices": "",
            "table": "Eine datenhaltende Stelle sah alle Antworten und hat sie verrauscht. Das"
            " Versprechen betrifft, was andere aus den verrauschten Antworten oder aus diesen"
            " Ergebnissen erfahren können, nicht die datenhaltende Stelle.",
            "simulation": "Niemand wurde gefragt: Personen und Antworten sind simuliert, also"
            " wird niemandem etwas versprochen.",
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
    if_they_collude=(
        "Wenn Sammelstelle und auswertende Stelle zusammenarbeiten, {said} (ε₀ = {epsilon})"
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
    title="was eine Person schützt, wenn andere zusammenarbeiten",
    columns=("es arbeiten zusammen", "was bleibt"),
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
    margin="typische Fehlerspanne (95\u202f%)",
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
    guess=(
        "Wer die Ergebnisse{rounds} sieht und rät, auf welche von zwei gleich wahrscheinlichen"
        " Arten Sie geantwortet haben, liegt höchstens in {right} von {of} Fällen richtig; beim"
        " Münzwurf wären es {half}."
    ),
    guess_always=(
        "Wer die Ergebnisse{rounds} sieht, kann möglicherweise erkennen, was Sie geantwortet haben:"
        " Das Rauschen dieser Umfrage ist zu klein, um es zu verbergen."
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
    people="± {number} Personen",
    half_width="{margin} {people} ({percent})",
    promise_delta=(
        "Andere Antworten einer Person ändern die Wahrscheinlichkeit von allem, was die"
        " auswertende Stelle sehen kann, höchstens um den Faktor {factor}, zuzüglich höchstens"
        " δ = {delta}."
    ),
    promise_eta=(
        "Andere Antworten einer Person ändern die Wahrscheinlichkeit dessen, was die auswertende"
        " Stelle sieht, höchstens um den Faktor {factor}, außer mit der Wahrscheinlichkeit"
        " η = {eta}."
    ),
    factor="{ratio} ({name} = {epsilon})",
    liars_can=Plural(
        "Ein unehrliches Programm kann die Anzahl einer Antwort höchstens um {high} erhöhen"
        " ({name}) oder eine Anzahl höchstens um {low} senken.",
        "{number} unehrliche Programme zusammen können die Anzahl einer Antwort höchstens um {high}"
        " erhöhen ({name}) oder eine Anzahl höchstens um {low} senken.",
    ),
    liars_could_have=Plural(
        "Ein unehrliches Programm kann die Anzahl einer Antwort höchstens um {high} erhöht haben"
        " ({name}) oder eine Anzahl höchstens um {low} gesenkt haben.",
        "{number} unehrliche Programme zusammen können die Anzahl einer Antwort höchstens um {high}"
        " erhöht haben ({name}) oder eine Anzahl höchstens um {low} gesenkt haben.",
    ),
    whole_people=Plural("{number} Person", "{number} Personen"),
    curator=("ein Treuhänder, der alle Antworten sieht ({noise}), käme auf σ = {sigma}; {gap}"),
    times_as_large="das σ von krand ist {ratio}-mal so groß",
    higher="das σ von krand ist {percent} höher",
    lower="das σ von krand ist {percent} niedriger",
)

PLANS = PlanTexts(
    promise=(
        "Wenn mindestens {crowd} Personen teilnehmen, ändern andere Antworten von Ihnen die"
        " Wahrscheinlichkeit von allem, was die auswertende Stelle sehen kann{rounds}, höchstens"
        " um den Faktor {factor}, {slack} ({how_known}).{helpers} {if_they_collude}."
    ),
    promise_of_flips=(
        "Auch die Geräte verrauschen. Wenn mindestens {crowd} Personen teilnehmen, verspricht"
        " dieses Rauschen allein denselben Faktor gegenüber der auswertenden Stelle, {slack}."
        "{helpers} Wenn {all_mixers} und die auswertende Stelle zusammenarbeiten, {remains}"
        " (ε₀ = {epsilon})."
    ),
    promise_of_mixers=(
        "{one_mixer}, ändern andere Antworten von Ihnen die Wahrscheinlichkeit von allem, was alle"
        " anderen zusammen sehen können{rounds}, höchstens um den Faktor {factor}, {slack}"
        " ({how_known}). {however_few}{otherwise}"
    ),
    no_honest_mixer=(
        " Wenn {all_mixers} und die auswertende Stelle zusammenarbeiten, schützt nichts Ihre"
        " Antworten."
    ),
    one_mixer=Plural(
        "Wenn die Sammelstelle ehrlich ist",
        "Wenn mindestens einer der {number} Mischer ehrlich ist",
    ),
    all_mixers=Plural("die Sammelstelle", "alle {number} Mischer"),
    however_few=(
        "Das gilt unabhängig davon, wie viele teilnehmen und wie viele davon sich absprechen."
    ),
    slack_delta="zuzüglich höchstens δ = {delta}",
    slack_eta="außer mit der Wahrscheinlichkeit η = {eta}",
    rounds=" (in allen {rounds} Runden zusammen)",
    helpers=Plural(
        " Das gilt auch, wenn {number} Person davon mit der auswertenden Stelle zusammenarbeitet.",
        " Das gilt auch, wenn {number} davon mit der auswertenden Stelle zusammenarbeiten.",
    ),
    cells_of="Zellen von {block}",
    above_limit="{names} (die Fehlerspanne wäre größer als {limit} der Teilnehmenden)",
    drowned_cells="{cells} ({margin} bei durchschnittlich {average} je Zelle)",
    unreadable=(
        "zu ungenau für eine Aussage: {parts}; mehr Personen oder weniger Fragen, oder ein größeres"
        " epsilon oder delta helfen"
    ),
    margins_of_devices=(
        "Fehlerspannen gelten für die {people} erwarteten Personen; das Rauschen der Geräte wächst"
        " mit der Wurzel ihrer Zahl."
    ),
    margins_of_mixers=(
        "Anteile beziehen sich auf die {people} erwarteten Personen; das Rauschen der Mischer ist"
        " gleich, wie viele auch kommen."
    ),
    no_shares=(
        "Wie viele Personen kommen, ist nicht bekannt: Mit expected = … in der Umfragedatei werden"
        " Fehlerspannen auch als Anteile gezeigt."
    ),
    batches_of="Ein Paket wird freigegeben, sobald {people} weitere Personen gekommen sind.",
    chosen_end=(
        "Legen Sie vorher fest, wann die Umfrage endet: Wer das nach Ergebnissen früherer Pakete"
        " entscheidet, kann sich auf die 95\N{NARROW NO-BREAK SPACE}% nicht mehr verlassen."
    ),
    each_cell=" je Zelle",
    each_position=" je Position",
    alone="  {question} allein",
    survey_title="{survey}: erwartete Genauigkeit",
    survey_columns=("Frage", "Art", "Positionen", "Rauschen q"),
    division=(
        "Das Rauschen ist so verteilt, dass seine Varianz pq/(p-q)² mit √(t/w) wächst; dabei ist t"
        " die Zahl der Bits, die eine Person ändern kann, und w das Gewicht der Frage."
    ),
    division_of_mixers=(
        "Das Rauschen ist so verteilt, dass seine Varianz mit einer Potenz von t/w wächst; dabei"
        " ist t die Zahl der Positionen, die eine Person ändern kann, und w das Gewicht der Frage."
        " Die Tabelle zeigt die Blindnachrichten, die jeder Mischer im Mittel zu einer Position"
        " hinzufügt."
    ),
    division_of_dummies=(
        "Die Varianz der Blindnachrichten wächst mit einer Potenz von t/w. Die Tabelle zeigt die"
        " Blindnachrichten, die jeder Mischer im Mittel zu einer Position hinzufügt."
    ),
    mixed_columns=("Frage", "Art", "Positionen", "Blindnachrichten"),
    both_columns=("Frage", "Art", "Positionen", "Rauschen q, Blindnachrichten"),
    both_amount="{noise}, {dummies}",
    sources_title=(
        "wer verrauscht, beim selben Versprechen (Nachrichten und Bytes je Person,"
        " Blindnachrichten je Mischer und Paket)"
    ),
    sources_columns=(
        "Rauschen von",
        "± Personen (95\u202f%)",
        "Nachrichten",
        "Bytes",
        "Blindnachrichten",
        "beruht auf",
    ),
    by_devices="Geräten",
    by_mixers=Plural("{number} Mischer", "{number} Mischern"),
    by_both=Plural("Geräten und {number} Mischer", "Geräten und {number} Mischern"),
    this_one="{option} (dieser Plan)",
    rests_on=MappingProxyType(
        {
            "devices": "{honest} Personen und der Sammelstelle",
            "collector": "der Sammelstelle",
            "mixers": "einem der Mischer",
            "both": "einem der Mischer; oder {honest} Personen und der Sammelstelle",
        }
    ),
    instead=(
        'Mit noise = "mixers" in [trust] ist keine Mindestzahl von Personen nötig, nur ein'
        " ehrlicher Mischer. Die Fehlerspanne (95\u202f%) wäre {options}."
    ),
    instead_option="± {widths} Personen mit {mixers}",
    methods_title="andere Verfahren mit demselben Versprechen",
    methods_columns=("Verfahren", "± Personen (95\u202f%)", "ε₀", "Nachrichten", "Anmerkung"),
    this_plan="dieser Plan",
    one_copy="ganze Datensätze, eine Kopie",
    several_copies="ganze Datensätze, {copies} Kopien",
    outlier="mit einem Versprechen, das nicht bewiesen ist",
    bits="jedes Bit für sich",
    rappor="RAPPOR",
    rappor_note="keiner Sammelstelle muss vertraut werden, q = {noise}",
    curator="Treuhänder",
    curator_note="sieht alle Antworten, verrauscht die Zählungen ({noise})",
    not_possible="nicht möglich",
    between="{best} bis {worst}",
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
    plans=PLANS,
)
