"""A survey on one machine, with nothing but its file: keys, plan and site file are made for it.

The survey's own promise is kept as it stands: where devices add the noise they do, and where mixers
do, the collector is the only one. One party then has every role, and the plan says so.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

from krand.collector.serving import LOOPBACK, listen
from krand.errors import InvalidInput
from krand.files import sync_folder, unwritable, write_atomically
from krand.mixing.keys import LONGEST_NAME, generate_mixer_keys
from krand.mixing.mixer import sign_checked_plan
from krand.mixing.store import MixerStore, create_store
from krand.partners.identity import Identity, make_identity, read_identity
from krand.partners.joining import analyst_key
from krand.planning.making import make_plan
from krand.site.checks import EDITED
from krand.site.site_file import ANALYST, COLLECTOR, Receiver, Site, SiteSurvey, site_text
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.reading import read_survey
from krand.survey.survey import Survey
from krand.survey.survey_folder import SurveyFolder, folder_beside
from krand.terminal.places import Place
from krand.wire.keys import private_key_pem, write_private
from krand.wire.plan_signatures import signature_bytes

SELF = "collector"
"""What the first mixer is called where the survey names no organiser."""


def first_mixer_name(survey: Survey) -> str:
    """What the organiser's mixer is called."""
    return survey.organiser[:LONGEST_NAME].strip() or SELF


def own_identity(folder: SurveyFolder, given: Path | None = None) -> Identity:
    """The organiser's, a new or a given one, in the survey's folder: the collector needs it."""
    if not folder.identity.exists():
        if given is None:
            return make_identity(folder.identity)
        write_private("identity", folder.identity, private_key_pem(read_identity(given).key))
    own = read_identity(folder.identity)
    if given is not None and own.public != read_identity(given).public:
        rule = f"must be the identity in {folder.identity}"
        raise InvalidInput("identity", rule, str(given), "or name another folder with -o")
    return own


def write_site(
    survey: SiteSurvey, name: str, status: Place, receiver: Receiver | None = None
) -> None:
    """The file of a site that serves this survey alone."""
    folder, state = survey.folder, survey.folder.path / "state"
    site = Site(name=name, folder=state, status=status, surveys=(survey,), receiver=receiver)
    write_atomically("site", folder.site_file, site_text(site, folder.path))


def folder_of(survey_file: Path) -> SurveyFolder:
    """The folder of a survey, made if there is none; a survey that was edited since is refused."""
    folder, survey = folder_beside(survey_file), read_survey(survey_file)
    if not folder.path.exists():
        trust = survey.trust.with_analyst_as_collector()  # the plan names one party as one
        _made(folder, survey.changed(trust=trust))
    elif not folder.plan.exists():
        hint = "krand pair goes on where it was; or remove the folder"
        raise InvalidInput("survey", "must be paired to the end", str(folder.path), hint)
    elif not _is_of(read_plan(folder.plan), survey):
        rule = f"must be the survey that {folder.path} was made for"
        raise InvalidInput("survey", rule, str(survey_file), EDITED)
    return folder


def _is_of(plan: Plan, survey: Survey) -> bool:
    """Whether a plan is of a survey; it may say of more mixers that the analyst runs them."""
    planned, runs = plan.survey.trust, survey.trust.analyst_runs
    if not set(runs) <= set(planned.analyst_runs):
        return False
    return plan.survey.changed(trust=planned.changed(analyst_runs=runs)) == survey


def _made(folder: SurveyFolder, survey: Survey) -> None:
    """The whole folder or nothing: it is made beside its place, and then renamed."""
    if survey.trust.mixers > 1:
        rule = "must be 1 to run everything on one machine"
        hint = "pair with the other mixers first: krand pair survey.toml --mixer URL"
        raise InvalidInput("trust.mixers", rule, survey.trust.mixers, hint)
    staged = SurveyFolder(folder.path.with_name(f".{folder.path.name}.new"))
    try:
        shutil.rmtree(staged.path, ignore_errors=True)  # of a run that was killed: nobody knows it
        staged.make("survey")
        _fill(staged, survey)
        staged.path.rename(folder.path)
        sync_folder(folder.path.parent)
    except OSError as error:
        raise unwritable("survey", folder.path, error) from None
    finally:
        shutil.rmtree(staged.path, ignore_errors=True)


def _fill(folder: SurveyFolder, survey: Survey) -> None:
    keys = generate_mixer_keys(0, own_identity(folder).key)
    collector = create_store(folder.mixer_store, first_mixer_name(survey), keys)
    plan = make_plan(survey).with_parties((collector,), analyst_key(folder))
    with MixerStore(folder.mixer_store) as store:
        signature = signature_bytes(sign_checked_plan(store, plan))
    write_atomically("signature", folder.signature(1), signature)
    plan.save(folder.plan)
    # Ports that are free now, and stay the same: people have the address.
    with closing(listen(LOOPBACK, 0)) as first, closing(listen(LOOPBACK, 0)) as second:
        form, status = (Place(LOOPBACK, each.getsockname()[1]) for each in (first, second))
    served = SiteSurvey(folder=folder, roles=(COLLECTOR, ANALYST), listen=form)
    name = (survey.organiser or survey.shown_title)[:LONGEST_NAME].strip()
    write_site(served, name, status)
