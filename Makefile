# make train   trains VACL on Simple-Spread with 4 agents and films the policy
# make test    runs the tests, with Bazel if it is available
# make test-slow  runs every task with every agent and every curriculum, and
#                 the notebook
# make test-browser  checks a report in Chromium, which must be installed
# make stress  kills, damages and misuses runs; PART=kills runs one part
# make lint    checks the style
# make docs    builds the pages of docs/ as a site in site/
# make clean   removes the environments that the other targets create

PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.installed
DOCS_VENV := .venv-docs
DOCS_READY := $(DOCS_VENV)/.installed
RUN := runs/simple_spread_n4_s0

.PHONY: train test test-slow test-browser stress lint docs clean

train: $(READY)
	@$(VENV)/bin/python -m vacl_tf.launch.main --env=simple_spread \
	  --num_agents=4 --stop_at_coverage=0.9 --run_dir=$(RUN)
	@$(VENV)/bin/python -m vacl_tf.launch.evaluate --run_dir=$(RUN) \
	  --video=$(RUN)/policy.gif
	@echo 'policy: $(RUN)/saved_model/'
	@echo 'curve:  $(RUN)/curves.png'
	@echo 'video:  $(RUN)/policy.gif'

test: $(READY)
	@$(VENV)/bin/python bazel/run_tests.py

test-slow: $(READY)
	@TF_CPP_MIN_LOG_LEVEL=2 $(VENV)/bin/python -m pytest -q -o addopts= \
	  $$(find vacl_tf -name '*_slow_test.py')

test-browser: $(READY)
	@{ command -v chromium || command -v chromium-browser \
	  || command -v google-chrome; } >/dev/null || { \
	  echo 'Chromium is needed: apt-get install chromium' >&2; exit 1; }
	@TF_CPP_MIN_LOG_LEVEL=2 $(VENV)/bin/python -m pytest -q -o addopts= \
	  $$(find vacl_tf -name '*_browser_test.py')

stress: $(READY)
	@TF_CPP_MIN_LOG_LEVEL=3 $(VENV)/bin/python -m vacl_tf.testing.stress.suite \
	  $(if $(PART),--part=$(PART))

lint: $(READY)
	@$(VENV)/bin/ruff check --quiet .
	@$(VENV)/bin/ruff format --quiet --diff .

docs: $(DOCS_READY)
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --quiet
	@echo 'site: site/index.html'

clean:
	@rm -rf $(VENV) $(DOCS_VENV)

# Each stamp is written last, so that an interrupted installation is repeated.
$(READY): requirements_lock.txt
	@$(call install,$(VENV),$<)
	@$(VENV)/bin/python -c "$$KNOWN_EVERYWHERE"
	@touch $@

$(DOCS_READY): website/requirements_lock.txt
	@$(call install,$(DOCS_VENV),$<)
	@touch $@

# Puts this folder on the module search path, so that commands can start in any
# folder. An editable installation is not enough: in a folder that contains a
# clone named vacl_tf, Python would find the clone's folder first.
define KNOWN_EVERYWHERE
import os, pathlib, sysconfig
packages = pathlib.Path(sysconfig.get_path('purelib'))
(packages / 'vacl_tf.pth').write_text(os.getcwd() + '\n')
endef
export KNOWN_EVERYWHERE

# Installs the requirements of $(2) in the environment $(1).
define install
$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { \
  echo 'Python 3.11, 3.12 or 3.13 is needed: make PYTHON=/path/to/python' >&2; \
  exit 1; }; \
echo 'Installing the locked requirements in $(1) (some minutes, once).'; \
$(PYTHON) -m venv $(1) || { \
  echo 'No venv module? On Debian and Ubuntu: apt-get install python3-venv' >&2; \
  exit 1; }; \
$(1)/bin/python -m pip install -qq --disable-pip-version-check \
  --require-hashes --requirement $(2)
endef
