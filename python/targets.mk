# The Python package. `python` builds the wheel; `test-python` tests it with everything that it can use.
.PHONY: python test-python
python: setup
	sh python/build.sh

test-python: setup
	sh python/test.sh
