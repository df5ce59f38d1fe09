"""The sentences of a report, in German; the form's words for the same things."""

from __future__ import annotations

from types import MappingProxyType

from krand.promise import Assurance
from krand.report.texts import (
    AnnexTexts,
    AnswerTexts,
    BadgeTexts,
    CardTexts,
    CollectedTexts,
    DateTexts,
    FindingTexts,
    JointTexts,
    LabelTexts,
    NumberTexts,
    OddsTexts,
    PageTexts,
    PromiseTexts,
    QuestionTexts,
    Texts,
    UncertaintyTexts,
    VerifyTexts,
    WordTexts,
)
from krand.survey.questions import Kind
from krand.wording.texts import Plural

__all__ = ["GERMAN"]

PAGE = PageTexts(
    document_title="{survey}: Antworten von {people} Personen",
    skip="Zum Inhalt springen",
    asked=Plural("{number} Frage an {people} Personen", "{number} Fragen an {people} Personen"),
    round="Runde {round} von {rounds}",
    lead="{parts}. {how_noisy}",
    results="Ergebnisse",
    results_lead=(
        "Alle Zahlen sind Schätzwerte, weil zum Schutz der Personen Rauschen hinzugefügt wurde."
        " Jeder Balken zeigt den"
        " geschätzten Anteil an allen {people} Personen; die Linie an seinem Ende ist das"
        " Konfidenzintervall des wahren Anteils, mit der Konfidenz in der Überschrift. Gezeigt"
        " werden die möglichen Anzahlen, die den rohen Schätzwerten am nächsten liegen: Keine ist"
        " negativ, und Antworten, von denen jede Person genau eine gibt, „keine Antwort“"
        " eingeschlossen, ergeben zusammen alle Personen."
    ),
    results_lead_sample=(
        "Alle Zahlen sind Schätzwerte, weil zum Schutz der Personen Rauschen hinzugefügt wurde."
        " Jeder Balken zeigt den"
        " geschätzten Anteil an allen {people} Personen; die Linie an seinem Ende ist das"
        " Konfidenzintervall des wahren Anteils in der Grundgesamtheit, von der diese Personen eine"
        " Stichprobe sind, mit der Konfidenz in der Überschrift. Gezeigt werden die möglichen"
        " Anzahlen, die den rohen Schätzwerten am nächsten liegen: Keine ist negativ, und"
        " Antworten, von denen jede Person genau eine gibt, „keine Antwort“ eingeschlossen,"
        " ergeben zusammen alle Personen."
    ),
    own_scale="Jeder Frage eine eigene Skala geben",
    contents="Inhalt",
    all_questions="Alle {number} Fragen",
    unreadable="Manche Ergebnisse sind zu ungenau für eine Aussage",
    unreadable_lead=(
        "Ihre Fehlerspanne ist größer als {limit} der Teilnehmenden, darum sagen sie nichts aus."
        " Unten sind sie grau: {names}."
    ),
    unreadable_answers=Plural("ihre einzige Antwort", "{number} von {all} Antworten"),
    unreadable_cells="{number} von {all} Zellen",
    footer="Erstellt mit krand. Funktioniert ohne Internet und ohne Skripte.",
)

DATE = DateTexts(
    months=(
        *("Januar", "Februar", "März", "April", "Mai", "Juni"),
        *("Juli", "August", "September", "Oktober", "November", "Dezember"),
    ),
    day="{day}. {month} {year}",
    month="{month} {year}",
    year="{year}",
)

BADGES = BadgeTexts(
    data_holder="Von der datenhaltenden Stelle verrauscht",
    simulation="Simulation: Niemand wurde gefragt",
    assurance=MappingProxyType(
        {
            Assurance.CERTIFIED: "Bewiesen: Das Versprechen ist ein mathematischer Satz",
            Assurance.OUTLIER: "Nicht bewiesen: Das Versprechen beruht auf einer Vermutung",
        }
    ),
    not_kept="Das Versprechen wurde nicht gehalten",
)

ODDS = OddsTexts(
    nobody=(
        "Niemand wurde gefragt, also wird niemandem etwas versprochen. In einer Umfrage mit diesem"
        " Plan gilt:"
    ),
    guess=(
        "Wer {results} sieht und rät, auf welche von zwei gleich wahrscheinlichen Arten Sie"
        " geantwortet haben, liegt mit einer Wahrscheinlichkeit von höchstens {percent} richtig:"
        " Das sind Chancen von {odds} zu 1; eine Münze gibt 1 zu 1 ({symbols})."
    ),
    these_results="diese Ergebnisse",
    all_results="die Ergebnisse aller {rounds} Runden",
    less="Das ist weniger, als die Umfrage versprochen hat.",
    known=MappingProxyType(
        {
            Assurance.CERTIFIED: "Das ist bewiesen, was immer alle anderen geantwortet haben.",
            Assurance.OUTLIER: "Das ist exakt für einen Angriff. Dass kein anderer Angriff besser"
            " ist, ist eine Vermutung.",
        }
    ),
    data_holder="Es schützt nicht vor der datenhaltenden Stelle, die alle Antworten sah.",
)

FINDINGS = FindingTexts(
    title="Die wichtigsten Ergebnisse",
    note=(
        "Anteile an allen {people} Personen; ± ist die Fehlerspanne ({confidence}). Zuerst kommen"
        " die Fragen, denen die Umfrage das größte Gewicht gibt, dann die deutlichsten Antworten;"
        " die Fehlerspannen berücksichtigen diese Auswahl nicht."
    ),
    note_sample=(
        "Anteile an der Grundgesamtheit, von der {people} Personen eine Stichprobe sind; ± ist die"
        " Fehlerspanne ({confidence}). Zuerst kommen die Fragen, denen die Umfrage das größte"
        " Gewicht gibt, dann die deutlichsten Antworten; die Fehlerspannen berücksichtigen diese"
        " Auswahl nicht."
    ),
    answer="{question}: {answer}, {share} ± {margin}",
    median="{question}: Median {value}",
    mean="{question}: Mittelwert {value} ± {margin}",
    given=(
        "{question}: {answer}, {share} ± {margin} derer, die auf {given_question} mit"
        " {given_answer} geantwortet haben"
    ),
    none="Keine Antwort ist deutlich genug, um hier zu stehen.",
)

CARDS = CardTexts(
    people="Personen",
    privacy="Privatsphäre",
    kept=MappingProxyType(
        {
            Assurance.CERTIFIED: "Bewiesen. Das Versprechen der Umfrage wurde gehalten.",
            Assurance.OUTLIER: "Nicht bewiesen. Das Versprechen der Umfrage wurde gehalten.",
        }
    ),
    not_kept=MappingProxyType(
        {
            Assurance.CERTIFIED: "Bewiesen. Das Versprechen der Umfrage wurde NICHT gehalten.",
            Assurance.OUTLIER: "Nicht bewiesen. Das Versprechen der Umfrage wurde NICHT gehalten.",
        }
    ),
    precision="Genauigkeit",
    margin="± {number} Personen",
    margin_of="typische Fehlerspanne ({confidence}), das sind {share} der Teilnehmenden",
)

LABELS = LabelTexts(
    yes="ja",
    no="nein",
    unanswered="keine Antwort",
    no_or_unanswered="nein oder keine Antwort",
    below="unter {high}",
    above="{low} oder mehr",
    under="{low} bis unter {high}",
    whole="{low} bis {high}",
)

ANSWERS = AnswerTexts(
    answer="Antwort",
    share="Anteil",
    people="Personen",
    interval="{confidence}-Intervall",
    ends="{low} bis {high}",
    more="{number} weitere, seltenere (aufklappen, um mit dem Browser zu suchen)",
    more_caption="{caption}: seltenere",
    left_out=("{number} weitere stehen in der Ergebnisdatei; {command} schreibt alle als Tabelle."),
    unreadable="zu ungenau für eine Aussage",
    rounded="Wegen Rundung ergeben die gezeigten Anteile zusammen {sum}.",
    raw_counts="Rohe Schätzwerte",
    raw_lead="Rohe Schätzwerte jeder Frage, bevor daraus mögliche Anzahlen werden",
    raw_count="Roher Schätzwert",
    raw_caption=(
        "Rohe Schätzwerte von {question}: unverzerrt, also über das Rauschen gemittelt richtig; sie"
        " können negativ sein oder größer als die Zahl der Teilnehmenden"
    ),
)

QUESTIONS = QuestionTexts(
    kinds=MappingProxyType(
        {
            Kind.YES_NO: "ja oder nein",
            Kind.CHOICE: "eine Antwort aus einer Liste",
            Kind.PICK_ANY: "beliebige Antworten aus einer Liste",
            Kind.NUMBER: "eine Zahl, von der nur der Bereich bekannt ist",
            Kind.SCALE: "ein Wert auf einer Skala",
            Kind.WORDS: "freie Wörter, gesucht mit einer Liste",
        }
    ),
    caption="{question}: {kind}",
    caption_many="{question}: {kind}; die häufigsten von {number}",
    histogram=(
        "Jeder Bereich hat einen Balken, unabhängig von seiner Breite; die Länge des Balkens ist"
        " der Anteil der Personen."
    ),
    diverging=(
        "Im obersten Balken stehen Antworten unter der Mitte der Skala links, solche über ihr"
        " rechts."
    ),
    only_yes=(
        "Gezählt wurde nur „ja“: „Nein“ und „keine Antwort“ lassen sich nicht unterscheiden."
    ),
    picks="Gewählte Antworten je Person im Mittel: {picks}.",
)

NUMBERS = NumberTexts(
    answered="Unter den {number} Personen, die geantwortet haben: {quantiles}.",
    quantile="{part} {value}",
    parts=MappingProxyType({0.25: "unteres Quartil", 0.5: "Median", 0.75: "oberes Quartil"}),
    other_part="{percent}-Quantil",
    open_value="ein Wert in einem offenen Bereich",
    mean="Der Mittelwert ist {mean}.",
    with_interval="{value} ({interval})",
    ends="{low} bis {high}",
    or_more="{low} oder mehr",
    or_less="{high} oder weniger",
    anything="beliebig",
    cdf="Wie viele unter jeder Grenze liegen",
    cdf_caption="{question} unter jeder Grenze, als Anteil derer, die geantwortet haben",
    cdf_number="Zahl",
    cdf_edge="unter {edge}",
)

WORDS = WordTexts(
    not_decoded=(
        "Nicht entschlüsselt: Wörter findet man mit einer Liste von Kandidaten, {command}."
    ),
    one_of_several=" oder ",
    found=Plural(
        "{number} von {all} Wörtern der Liste wurde gefunden; im Mittel wurden höchstens {rate} der"
        " gefundenen Wörter von niemandem genannt (Falscherkennungsrate).",
        "{number} von {all} Wörtern der Liste wurden gefunden; im Mittel wurden höchstens {rate}"
        " der gefundenen Wörter von niemandem genannt (Falscherkennungsrate).",
    ),
    limit=(
        "Nachweisgrenze: Ein Wort, das {number} Personen genannt haben, wird mit einer"
        " Wahrscheinlichkeit von {confidence} gefunden."
    ),
    no_limit="Nachweisgrenze: keine; mit diesem Rauschen lässt sich kein Wort finden.",
    named=(
        "Insgesamt wurden etwa {number} Wörter genannt; davon sind {unexplained} nicht unter den"
        " gefundenen."
    ),
    all_found=(
        "Insgesamt wurden etwa {number} Wörter genannt; soweit das Rauschen es erkennen lässt, sind"
        " alle unter den gefundenen."
    ),
)

JOINT = JointTexts(
    title="Zusammenhänge zwischen Fragen",
    lead=(
        "Jede Zelle zeigt die geschätzte Zahl der Personen und ihr Intervall. Je kräftiger die"
        " Farbe einer Zelle, desto mehr Personen. Rohe Schätzwerte stehen in der Ergebnisdatei."
    ),
    legend="Personen:",
    given="Anteile: „{question}“ nach der Antwort auf „{given}“",
    given_caption=(
        "Die Antworten auf {question} unter denen, die die jeweilige Antwort auf {given} gegeben"
        " und beide Fragen beantwortet haben, in Prozent, mit {confidence}-Konfidenzintervallen"
    ),
    nobody="niemand",
    table="Tabelle {title}",
    one_table="Tabelle {title} {number}",
    caption="Personen, mit {confidence}-Konfidenzintervallen",
    caption_many=(
        "Personen, mit {confidence}-Konfidenzintervallen; die häufigsten Antworten von {sizes}"
    ),
    caption_of="{chosen}. {caption}",
    chosen="{question} = {answer}",
    ends="{low} bis {high}",
    drowns=(
        "Einzelne Zellen sagen hier wenig aus: Eine Zelle hat im Durchschnitt {average} Personen"
        " und eine Fehlerspanne von ± {margin}."
    ),
    only_two="Unabhängigkeit wird nur für zwei Fragen geprüft.",
    not_tested=(
        "Unabhängigkeit wurde nicht geprüft: Es gibt zu wenige Antworten, zu viele Zellen oder zu"
        " viel Rauschen darin."
    ),
    related="Die Antworten auf die beiden Fragen hängen zusammen.",
    perhaps=(
        "Es gibt schwache Anzeichen, dass die Antworten auf die beiden Fragen zusammenhängen."
    ),
    unrelated="Nichts hier zeigt, dass die Antworten auf die beiden Fragen zusammenhängen.",
    test=Plural(
        "{verdict} Wären sie unabhängig, so käme eine mindestens so ungleichmäßige Tabelle wie"
        " diese mit einer Wahrscheinlichkeit von {chance} vor (Chi-Quadrat {statistic}, {degrees}"
        " Freiheitsgrad, das Rauschen ist berücksichtigt).",
        "{verdict} Wären sie unabhängig, so käme eine mindestens so ungleichmäßige Tabelle wie"
        " diese mit einer Wahrscheinlichkeit von {chance} vor (Chi-Quadrat {statistic}, {degrees}"
        " Freiheitsgrade, das Rauschen ist berücksichtigt).",
    ),
    less_than="weniger als {number}",
    left_out="Weggelassen, weil sie anscheinend niemand gegeben hat: {answers}.",
    first_only=(
        "Nur die ersten {number} Tabellen werden gezeigt; die Ergebnisdatei enthält sie alle."
    ),
)

PROMISE = PromiseTexts(
    title="Was den Teilnehmenden versprochen wird",
    broken="Das Versprechen wurde nicht gehalten",
    broken_why=(
        "Die Umfrage hat ihren Teilnehmenden {asked} bei ε = {epsilon} versprochen. Für die"
        " Personen, die teilgenommen haben, lässt sich nur {had} zeigen. Diese Ergebnisse geben den"
        " Teilnehmenden weniger, als ihnen versprochen wurde."
    ),
    broken_refused=Plural(
        "Die Umfrage hat ihren Teilnehmenden {asked} bei ε = {epsilon} versprochen. Für die"
        " Personen, die teilgenommen haben, und {number} abgewiesene Nachricht lässt sich nur {had}"
        " zeigen. Diese Ergebnisse geben den Teilnehmenden weniger, als ihnen versprochen wurde.",
        "Die Umfrage hat ihren Teilnehmenden {asked} bei ε = {epsilon} versprochen. Für die"
        " Personen, die teilgenommen haben, und {number} abgewiesene Nachrichten lässt sich nur"
        " {had} zeigen. Diese Ergebnisse geben den Teilnehmenden weniger, als ihnen versprochen"
        " wurde.",
    ),
    not_kept="{not_kept} {why} Dies lässt sich versprechen:",
    not_kept_short="Nicht gehalten.",
    to_people="Dies wird jeder der {people} Personen versprochen, die teilgenommen haben.",
    to_batches=(
        "Dies wird jeder der {people} Personen versprochen, die teilgenommen haben und in"
        " Paketen von mindestens {crowd} gemischt wurden."
    ),
    to_nobody=(
        "Niemand wurde gefragt. In einer Umfrage würde dies jeder von {people} Personen"
        " versprochen."
    ),
    to_nobody_batches=(
        "Niemand wurde gefragt. In einer Umfrage würde dies jeder von {people} Personen"
        " versprochen, die in Paketen von mindestens {crowd} gemischt wurden."
    ),
    to_table=(
        "Dies wird jeder der {people} Personen in den Daten versprochen. Es schützt vor allen, die"
        " die verrauschten Antworten oder diese Ergebnisse sehen, aber nicht vor der datenhaltenden"
        " Stelle, die alle Antworten sah."
    ),
    to_tables=(
        "Dies wird jeder der {people} Personen in den Daten versprochen, die in Tabellen von"
        " mindestens {crowd} verrauscht wurden. Es schützt vor allen, die die verrauschten"
        " Antworten oder diese Ergebnisse sehen, aber nicht vor der datenhaltenden Stelle, die alle"
        " Antworten sah."
    ),
    lead=(
        "Wenn Sie irgendwelche anderen Antworten gegeben hätten, würde sich die Wahrscheinlichkeit"
        " von allem, was die auswertende Stelle sehen kann{rounds}, höchstens um den Faktor"
        " {factor} ändern, {slack}."
    ),
    lead_table=(
        "Wenn Sie irgendwelche anderen Antworten gegeben hätten, würde sich die Wahrscheinlichkeit"
        " von allem, was in den verrauschten Antworten und den Ergebnissen zu sehen ist{rounds},"
        " höchstens um den Faktor {factor} ändern, {slack}."
    ),
    rounds=" (in allen {rounds} Runden zusammen)",
    slack_delta="zuzüglich höchstens δ = {delta}",
    slack_eta="außer mit der Wahrscheinlichkeit η = {eta}",
    symbols="In Formelzeichen",
    odds="In Chancen",
    odds_text=(
        "Wer zwei Möglichkeiten, wie Sie geantwortet haben könnten, für gleich wahrscheinlich hält,"
        " kann danach die eine höchstens um den Faktor {factor} für wahrscheinlicher halten als die"
        " andere. Die Wahrscheinlichkeit für mehr als das ist höchstens η = {eta}."
    ),
    known="Woher wir das wissen",
    known_text=MappingProxyType(
        {
            Assurance.CERTIFIED: "Bewiesen: Das ist ein mathematischer Satz. Er gilt, was immer"
            " alle anderen geantwortet haben und was immer die auswertende Stelle vorher wusste."
            " Verfahren: {method}.",
            Assurance.OUTLIER: "Nicht bewiesen: exakt berechnet für einen Angriff, nämlich auf eine"
            " Person, deren Antworten sich von denen aller anderen unterscheiden, während alle"
            " anderen gleich antworten. Dass kein anderes Antwortverhalten der anderen für jemanden"
            " ungünstiger ist, ist eine Vermutung, kein Satz. Verfahren: {method}.",
        }
    ),
    colluding="Teilnehmende, die der auswertenden Stelle helfen",
    data_holder="Die datenhaltende Stelle",
    data_holder_text=(
        "Die datenhaltende Stelle sah jede Antwort, bevor sie verrauscht wurde. Nichts hier schützt"
        " vor der datenhaltenden Stelle oder vor denen, denen sie die Antworten zeigt."
    ),
    false_answers="Falsche Antworten",
    false_answers_text=(
        "Wer falsch geantwortet hat, hat eine Anzahl höchstens um 1 Person verändert."
    ),
    refused="Abgewiesene Nachrichten",
    none_refused="Keine: Jede Nachricht ließ sich lesen.",
    coalitions="Was bleibt, wenn andere mit der auswertenden Stelle zusammenarbeiten",
    coalitions_form=(
        "Wer auf einer Webseite antwortet, verlässt sich auch auf den, der sie bereitstellt: Er"
        " könnte ihr Programm austauschen."
    ),
    coalitions_caption="Was für jede teilnehmende Person bleibt",
    working_together="Es arbeiten zusammen",
    remains="Was bleibt",
    remains_symbols="In Formelzeichen",
    whole_promise="das ganze Versprechen",
    weaker_promise="ein schwächeres Versprechen",
    relies_on="Worauf es beruht",
    liars="Was eine unehrliche Person bewirkt haben kann",
    liars_lead=Plural(
        "Niemand kann in ein Gerät hineinsehen. Eine unehrliche Person kann die Anzahl einer"
        " Antwort höchstens um so viele Personen verändert haben:",
        "Niemand kann in ein Gerät hineinsehen. {number} unehrliche Personen können die Anzahl"
        " einer Antwort höchstens um so viele Personen verändert haben:",
    ),
    liars_caption="Um wie viel eine Anzahl höchstens falsch sein kann",
    question="Frage",
    too_high="Zu hoch um",
    too_low="Zu niedrig um",
    every_question="jede Frage",
)

UNCERTAINTY = UncertaintyTexts(
    title="Wie viel der Unsicherheit vom Rauschen kommt",
    crowd=(
        "Die Intervalle in diesem Bericht betreffen die Teilnehmenden selbst, diese {people}"
        " Personen: Für sie ist das Rauschen die einzige Quelle von Unsicherheit. Wären die"
        " Teilnehmenden eine Zufallsstichprobe aus einer weit größeren Grundgesamtheit, so käme"
        " durch die Stichprobe hinzu, was die Tabelle zeigt, und die Intervalle für diese"
        " Grundgesamtheit wären breiter. Personen, die selbst entschieden haben teilzunehmen, sind"
        " keine Zufallsstichprobe."
    ),
    sample=(
        "Die Anteile in diesem Bericht betreffen {population}; von ihnen sind die {people}"
        " Teilnehmenden nach Annahme eine Zufallsstichprobe. Intervalle von Anteilen umfassen"
        " Rauschen und Stichprobe, die von Anzahlen nur das Rauschen. Personen, die selbst"
        " entschieden haben teilzunehmen, sind keine Zufallsstichprobe."
    ),
    chosen_end=(
        "Die Umfrage veröffentlicht Ergebnisse, während sie läuft. Wer danach entschieden hat, wann"
        " sie endet, kann sich auf das angegebene Konfidenzniveau nicht verlassen."
    ),
    unlimited="unbegrenzt viele Personen",
    population="{number} Personen",
    legend=(
        "Balken zeigen, wie sich die Varianz aufteilt: {noise_key} Rauschen, {sampling_key}"
        " Stichprobe."
    ),
    table="Tabelle zu Rauschen und Stichprobe",
    caption=("Die häufigste Antwort auf jede Frage: Standardfehler ihrer Anzahl, in Personen"),
    question="Frage",
    answer="Antwort",
    people="Personen",
    noise="Durch Rauschen",
    sampling="Durch Stichprobe",
    both="Beides",
    part="Anteil des Rauschens",
    count_and_share="{number} ({percent})",
)

COLLECTED = CollectedTexts(
    title="Wie gesammelt wurde",
    sent="Was gesendet wurde",
    handed_on="Was weitergegeben wurde",
    noise="Rauschen",
    question="Frage",
    positions="Positionen",
)

VERIFY = VerifyTexts(
    title="Wie man es nachprüft",
    lead=(
        "Diese Seite zeigt, was die Ergebnisdatei sagt. Wer die Datei hat, kann sie mit krand"
        " prüfen, auf jedem Rechner und ohne Netz:"
    ),
    what=(
        "Der Befehl berechnet das Versprechen neu, für genau das Rauschen des Plans und die"
        " Personen, die teilgenommen haben, und jeden Standardfehler, Anteil und jedes Intervall"
        " neu aus den Anzahlen. Er prüft, dass der enthaltene Plan den Hash unten hat, dass"
        " Genauigkeit und Nachrichten aus dem Rauschen folgen, dass so viele Personen wie geplant"
        " teilgenommen haben und dass das Versprechen so gut ist wie das der Umfrage. Mit"
        " {plan_option}, dem Plan, der den Teilnehmenden gezeigt wurde, prüft er, dass der"
        " enthaltene Plan derselbe ist. Mit der Zählung berechnet {tally_command} alle Ergebnisse"
        " neu. Was ohne eine weitere Datei oder einen Schlüssel nicht geprüft werden kann, wird als"
        " nicht geprüft angezeigt. {rest}"
    ),
    recount=(
        "Die Nachrichten lassen sich nur mit dem privaten Schlüssel der auswertenden Stelle noch"
        " einmal zählen."
    ),
    recount_table="Die verrauschten Antworten kann jeder noch einmal zählen, der sie hat.",
    signed=(
        "Die folgenden Stellen geben an, gezählt zu haben, und haben die Zählung signiert."
        " Vergleichen Sie die Fingerabdrücke ihrer Schlüssel mit denen, die sie selbst"
        " veröffentlichen; mit ihren Schlüsseln prüft {command} die Signaturen."
    ),
    signer="{name}, Schlüssel {fingerprint}",
    unsigned=(
        "Niemand hat die Zählung signiert, es gibt dafür also nur das Wort derer, die gezählt"
        " haben; mit {command} kann eine zweite Stelle nachzählen und signieren."
    ),
    simulation="Sonst gibt es nichts zu prüfen: Die Personen sind simuliert.",
    data_holder=(
        "Keine Datei kann zeigen, dass die datenhaltende Stelle so verrauscht hat, wie der Plan"
        " sagt, und die Antworten aller nur einmal: Dafür gibt es nur ihr Wort."
    ),
    plan="Plan",
    files=Plural(
        "Datei mit verrauschten Antworten (SHA-256)", "Dateien mit verrauschten Antworten (SHA-256)"
    ),
    batches=Plural("Paket (SHA-256)", "Pakete (SHA-256)"),
    no_batches="keine genannt",
    more_batches="und {number} weitere in der Ergebnisdatei",
    computed_by="Berechnet von",
)

ANNEX = AnnexTexts(
    title="Technischer Anhang",
    summary=(
        "Wie gesammelt wurde, Rauschen und Unsicherheit, rohe Schätzwerte, Dateien und Versionen"
    ),
    files="Dateien und Versionen",
)

GERMAN = Texts(
    page=PAGE,
    date=DATE,
    badges=BADGES,
    odds=ODDS,
    findings=FINDINGS,
    cards=CARDS,
    labels=LABELS,
    answers=ANSWERS,
    questions=QUESTIONS,
    numbers=NUMBERS,
    words=WORDS,
    joint=JOINT,
    promise=PROMISE,
    uncertainty=UNCERTAINTY,
    collected=COLLECTED,
    verify=VERIFY,
    annex=ANNEX,
)
