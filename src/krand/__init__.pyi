"""The names that krand offers, each with its home: the one list, which the package itself reads."""

from krand import plots as plots
from krand import testing as testing
from krand.accounting.calibration import assess as assess
from krand.accounting.calibration import plan_noise as plan_noise
from krand.accounting.frontier import frontier as frontier
from krand.analysis.comparing import compare_results as compare_results
from krand.analysis.results import Results as Results
from krand.analysis.results import ResultsOptions as ResultsOptions
from krand.analysis.results import make_results as make_results
from krand.analysis.results_file import read_results as read_results
from krand.analysis.results_file import save_results as save_results
from krand.analysis.tally import Tally as Tally
from krand.analysis.tallying import tally_batches as tally_batches
from krand.analysis.tallying import tally_responses as tally_responses
from krand.client.client import Client as Client
from krand.client.ledger import Ledger as Ledger
from krand.errors import KrandError as KrandError
from krand.mixing.mix import mix as mix
from krand.planning.making import make_plan as make_plan
from krand.promise import Assurance as Assurance
from krand.promise import Guarantee as Guarantee
from krand.promise import Linkage as Linkage
from krand.promise import NoisePlan as NoisePlan
from krand.promise import Policy as Policy
from krand.promise import ResponseFormat as ResponseFormat
from krand.report.page import save_report as save_report
from krand.survey.plan import Plan as Plan
from krand.survey.plan_file import read_plan as read_plan
from krand.survey.plan_file import save_plan as save_plan
from krand.survey.reading import parse_survey as parse_survey
from krand.survey.reading import read_survey as read_survey
from krand.survey.survey import Survey as Survey
from krand.tables.whole_table import randomize_table as randomize_table
from krand.wire.keys import generate_private_key as generate_private_key
from krand.wire.keys import generate_signing_key as generate_signing_key
from krand.wire.keys import load_private_key as load_private_key
from krand.wire.keys import load_public_key as load_public_key
from krand.wire.keys import load_verifying_key as load_verifying_key
from krand.wire.plan_signatures import PlanSignature as PlanSignature
from krand.wire.plan_signatures import read_signature as read_signature

__version__: str
__all__: list[str]
