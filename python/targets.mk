# The Python package. `python` builds the wheel, from what the demo has built; `make python ANALECTS_PROFILE=release` takes
# minutes, and the wheel runs twice as fast. `test-python` tests it with everything that it can use.
.PHONY: python test-python
python: ANALECTS_PROFILE = dev
python: setup
	sh python/build.sh

test-python: setup
	sh python/test.sh
