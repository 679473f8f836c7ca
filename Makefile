# Two commands matter: `make demo` does the main job, `make test` passes all tests.
# Each sets up what it needs; see `scripts/setup.sh`.

CARGO ?= cargo
# The profile of what is run; dev is that of the tests, and shares their dependencies.
ANALECTS_PROFILE ?= release
export ANALECTS_PROFILE
# A first build needs nothing for a second one. CARGO_INCREMENTAL=1 for those who build again and again.
CARGO_INCREMENTAL ?= 0
export CARGO_INCREMENTAL
ANALECTS = target/$(patsubst dev,debug,$(ANALECTS_PROFILE))/analects

# Not `rtc`, which stands on 43 more crates and on aws-lc in C, nor what needs a Python: `make test-webrtc` and
# `make test-python` have them.
MOST = --workspace --exclude rtc --exclude analects-python

.PHONY: demo test test-kernel-sanitizers bench bench-kernel reference reproduction lint fuzz man deb test-deb test-tc cross setup clean

# The targets, each with the first sentence of the comment above it.
.PHONY: help
help:
	@awk '/^# /{if (!said) said = substr($$0, 3); else said = said " " substr($$0, 3); next} \
	    /^\.PHONY|^export|^[A-Z]+ .?=/{next} \
	    /^[a-z][a-z0-9-]*:/{split($$1, name, ":"); if (said != "" && !(name[1] in seen)) { \
	        sub(/(: |; |\. ).*/, "", said); printf "%-24s %s\n", name[1], said; seen[name[1]] } } \
	    {said = ""}' Makefile python/targets.mk

# Two tables and a report of what queues do to a household. Of the tests' profile, and without what needs this host's network: seen at once, and `make test` shares it.
demo: setup
	@echo "Building what compares disciplines, for a minute or two. (It leaves out the commands for this host's network:"
	@echo "link, gateway, pace, tc, probe, browser. The installed program has them, and is twice as fast.)"
	$(CARGO) build --locked -p analects --no-default-features
	@echo; echo "An evening at home:"
	@target/debug/analects run scenarios/evening.toml --columns stall:call,stall:game,answer_p99:keys,plt,bulk_rate \
	    --report report.html
	@echo "Where mencius loses: a call nearly fills 5 Mbit/s, and it is the page that waits."
	@target/debug/analects run scenarios/page-during-call.toml -d fq_codel -d cake -d mencius --set link.rate=5mbit \
	    --columns stall,call_rate,fct
	@echo "The plots of the evening are in report.html."

# All tests that need no root, kernel or browser.
test: setup
	$(CARGO) test $(MOST) --locked

# Format, clippy and rustdoc, which `.ci/run` asks for before the tests. Needs rustfmt and clippy, which not every toolchain has.
lint: setup
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy $(MOST) --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(MOST) --no-deps --locked --quiet

# Licences, bans, sources and advisories of all dependencies. Builds cargo-deny, once.
.PHONY: deny
deny: setup
	sh scripts/deny.sh

# The commands of the documents that take minutes, and their output.
.PHONY: test-docs
test-docs: setup
	$(CARGO) test --locked -p analects --test it -- --ignored docs::long --nocapture

# What `analects measure` finds on lines that are known, drawn by the commit's hash: a table, in ten minutes. As root.
.PHONY: test-lines
test-lines: setup
	$(CARGO) build --locked -p analects
	python3 scripts/measure-lines.py $${CARGO_TARGET_DIR:-target}/debug/analects

# What a call's stall over real sockets is on known lines, beside what `analects measure` predicts of it: a table; three minutes a line. As root.
.PHONY: test-prediction
test-prediction: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
	python3 scripts/predict-lines.py $${CARGO_TARGET_DIR:-target}/$(patsubst dev,debug,$(ANALECTS_PROFILE))/analects

# A newcomer's circle in a home of namespaces behind `analects link`: measure, compare, apply by `gateway`, measure; a minute and a half. As root.
.PHONY: test-circle
test-circle: setup
	sh scripts/test-circle.sh

# What `analects probe` finds on links that are known, drawn by the commit's hash, beside a call of Python's: a table, in
# five minutes. As root. CPUs that are busy make verdicts unknown.
.PHONY: test-probe-links
test-probe-links: setup
	$(CARGO) build --locked -p analects
	python3 scripts/probe-links.py $${CARGO_TARGET_DIR:-target}/debug/analects

# The named causes of calls' stalls, over scenarios of one cause: a table, in a minute.
.PHONY: test-causes
test-causes: setup
	$(CARGO) test --locked -p analects --test it -- --ignored causes:: --nocapture

# All checks, in some hours; those that passed with the same files are skipped. STAGES="a b" for some.
.PHONY: release-gate
release-gate: setup
	python3 scripts/check $(or $(STAGES),gate)

# The kernels that the engine `kernel` boots, fetched and built once; KERNEL=6.12, 7.x or all for others.
KERNEL ?= 6.1
.PHONY: kernel-engine
kernel-engine:
	@sh scripts/kernel-engine.sh $(KERNEL)

# `analects tc` with the real tc, and the unit that calls it, in network namespaces of their own; no root is
# needed.
.PHONY: test-live
test-live: setup
	sh scripts/test-live.sh
	sh scripts/test-tc-unit.sh

# `analects link` with real programs, in network namespaces of its own; it takes root, or a
# /dev/net/tun that all users may use.
.PHONY: test-link
test-link: setup
	sh scripts/test-link.sh

# `analects check` with a call in Python, good and bad links, a regression and a late host; five minutes. As test-link.
.PHONY: test-check
test-check: setup
	sh scripts/test-check.sh

# `analects pace` with real programs behind `analects link`: three quarters of a minute. As test-link.
.PHONY: test-pace
test-pace: setup
	sh scripts/test-pace.sh
	sh scripts/test-household.sh

# `analects gateway` on a router between two namespaces: a minute and a half. As test-live, and with nfnetlink_queue.
.PHONY: test-gateway
test-gateway: setup
	sh scripts/test-gateway.sh

# The engine live with calls over a real WebRTC stack: built with the feature `webrtc`, tried as root.
.PHONY: test-webrtc
test-webrtc: setup
	sh scripts/test-webrtc.sh

# `analects browser` with a real Chromium, in namespaces of its own; a minute and a half. As test-link.
.PHONY: test-browser
test-browser: setup
	sh scripts/test-browser.sh

# The page of `analects probe serve --page` in Chromium and Firefox behind `analects link`; three minutes. As test-link.
.PHONY: test-page
test-page: setup
	sh scripts/test-page.sh

# The playground: one page with the simulator inside, into target/playground.
.PHONY: playground
playground: setup
	sh scripts/playground.sh

# Its modules, its figures against the command line's, and the page in Chromium and Firefox; some minutes.
# BROWSERS=chromium for one of them, SHOTS=FOLDER for pictures of all stories.
.PHONY: test-playground
test-playground: setup
	sh scripts/test-playground.sh $(BROWSERS)

# The documents with a search, the playground and the demo's report as one folder, target/site; its links are checked.
.PHONY: site
site: setup
	sh scripts/site.sh

# What a cold clone's demo costs, relative to a fixed piece of compiling; fails above +10 %. RECORD=1 writes the record anew.
.PHONY: bench-first-minute
bench-first-minute: setup
	python3 scripts/bench-first-minute.py $(if $(RECORD),--record)

# Its size, and its speed beside the native one and in Chromium.
.PHONY: bench-playground
bench-playground: setup
	sh scripts/bench-playground.sh

# The verdicts of `analects probe` on sixteen links, with real packets: some four minutes. As test-link.
.PHONY: probe-matrix
probe-matrix: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
	sh scripts/probe-over-link.sh

# The same on Linux's queues and ours, in real kernels under virtual time, with the loss of a TCP flow under
# NewReno beside it: see scripts/probe-matrix.sh for other cells. KERNEL=6.12 or 7.x for another kernel.
.PHONY: probe-matrix-kernel
probe-matrix-kernel: setup kernel-engine
	sh scripts/probe-matrix.sh $(KERNEL)

# The speed of `analects link` compared with mahimahi's mm-link and rattan, if MAHIMAHI names the folder of a
# build and RATTAN the program.
# Writes target/bench-live.json.
.PHONY: bench-live
bench-live: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
	python3 scripts/bench-live.py

# `gcc` compared with libwebrtc's own, which is fetched and built once, outside of the tree. Writes the
# records that `make test` replays.
.PHONY: witness
witness: setup
	sh scripts/witness.sh

# mencius written again, in Python, from its description alone: compared with the Rust over recorded traces.
.PHONY: witness-mencius
witness-mencius: export ANALECTS_TRACE_DIR = $(CURDIR)/target/witness-mencius
witness-mencius: export ANALECTS_TRACES ?= 1000
witness-mencius: setup
	sh scripts/apt.sh python3
	rm -rf $(ANALECTS_TRACE_DIR)
	$(CARGO) test --quiet --locked -p qdisc --test it mencius::write_traces_down -- --ignored
	python3 witness/mencius/compare.py $(ANALECTS_TRACE_DIR)

# Speed: ours, and ns-3's where libns3-dev is installed. Writes target/bench.json.
# SHORT=1 only checks that everything can be measured.
bench: setup
	sh scripts/bench.sh $(if $(SHORT),--short)

# Three hundred random attacks under which mencius might serve somebody worse than cake does, and cake beside itself
# as the zero; every commit has forty. MINIMISE=1 finds the simplest attack that is as bad. In no gate: it has not ended yet.
.PHONY: attacks
attacks: setup
	ANALECTS_ATTACKS=300 $(if $(MINIMISE),ANALECTS_MINIMISE=1) \
	    $(CARGO) test --quiet --locked -p qdisc --test it isolation::search -- --nocapture

# Instructions of the simulator per forwarded packet in six scenarios; fails if one takes over 2 % more than
# bench/instructions.json has. SHORT=1: one of them, and 5 %. RECORD=1 writes the file anew.
.PHONY: count
count: setup
	sh scripts/apt.sh valgrind
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p bench
	target/$(patsubst dev,debug,$(ANALECTS_PROFILE))/bench count $(if $(SHORT),--short) $(if $(RECORD),--record)

# The table of docs/reference/ns3.md: the safe rows of ns-3, next to ours.
reference: setup
	$(CARGO) build --release --locked -p bench
	target/release/bench reference bench/ns3

# Questions not in the paper, in docs/reproduction: quick runs, of the recordings in ANALECTS_DATA if set.
# Experiments that need Linux have pages of their own, below: no kernel is looked for here.
reproduction: export ANALECTS_CACHE = target/without-kernel
reproduction: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
	$(ANALECTS) reproduce confucius-beyond/all --quick --format markdown > target/confucius-beyond.md
	mv target/confucius-beyond.md docs/reproduction/

# mencius compared with eight others over 200 combinations of calls, neighbours and links, and under abuse:
# 54,000 runs and 7,200, 4,760 of recorded links, 18,000 of games and look-ups beside the 200, 1,980 near a call's share, 8,400 of
# combinations that the rules were not chosen with, and 1,710 behind a modem: three or four hours of two processors. An interrupted run
# is continued. SHORT=1 takes a few combinations and three seeds, and leaves the page as it is; DRAW=TEXT draws
# other unseen combinations.
MATRIX = $(addprefix matrix/,household abuse recorded-wifi recorded-4g computers edges sparse unseen behind) \
    $(if $(DRAW),--draw $(DRAW))
.PHONY: matrix
matrix: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
ifdef SHORT
	$(ANALECTS) reproduce $(MATRIX) --quick
else
	$(ANALECTS) reproduce $(MATRIX) --format markdown > target/matrix.md
	mv target/matrix.md docs/reproduction/
endif

# FLOQ's evaluation and its open questions: some forty minutes of a processor. An interrupted run is
# continued. SHORT=1 makes quick runs of its mechanism and of its comparison with fair queues.
.PHONY: reproduction-floq
reproduction-floq: export ANALECTS_CACHE = target/without-kernel
reproduction-floq: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
ifdef SHORT
	$(ANALECTS) reproduce floq/mechanism floq-beyond/fair-queues --quick
else
	$(ANALECTS) reproduce floq/all --format markdown > target/floq.md
	mv target/floq.md docs/reproduction/
	$(ANALECTS) reproduce floq-beyond/all --quick --format markdown > target/floq-beyond.md
	mv target/floq-beyond.md docs/reproduction/
endif

# The thesis on age-based scheduling, and its open questions: quick runs, half an hour of two processors at
# most. SHORT=1 takes one experiment of it.
.PHONY: reproduction-thesis
reproduction-thesis: export ANALECTS_CACHE = target/without-kernel
reproduction-thesis: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
ifdef SHORT
	$(ANALECTS) reproduce thesis/fig1 thesis/call --quick
else
	$(ANALECTS) reproduce thesis/all --quick --format markdown > target/thesis.md
	mv target/thesis.md docs/reproduction/
endif

# Tonopah's evaluation, and its open questions: quick runs, half an hour of two processors at most. SHORT=1
# takes its table III.
.PHONY: reproduction-tonopah
reproduction-tonopah: export ANALECTS_CACHE = target/without-kernel
reproduction-tonopah: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
ifdef SHORT
	$(ANALECTS) reproduce tonopah/performance --quick
else
	$(ANALECTS) reproduce tonopah/all --quick --format markdown > target/tonopah.md
	mv target/tonopah.md docs/reproduction/
endif

# The poster on pacing web traffic, and what it leaves open, thirty runs each: some ten minutes of two processors.
# ANALECTS_DATA names the folder with recorded traces, without which poster/wifi has generated ones.
.PHONY: reproduction-poster
reproduction-poster: export ANALECTS_CACHE = target/without-kernel
reproduction-poster: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
	$(ANALECTS) reproduce poster/all --format markdown > target/poster.md
	mv target/poster.md docs/reproduction/

# Quick runs of all papers' experiments, into nothing: whether they run, and reach their verdicts. An hour or two.
.PHONY: reproduction-quick
reproduction-quick: setup
	for paper in confucius floq tonopah thesis poster; do \
	    sh scripts/reproduction-quick.sh $$paper || exit; \
	done

# Every claim of the paper, under its own calls and under ordinary ones: about ten hours of a
# processor. An interrupted run is continued.
.PHONY: reproduction-full
reproduction-full: export ANALECTS_CACHE = target/without-kernel
reproduction-full: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
	$(ANALECTS) reproduce confucius/all --calls paper,webrtc --runs docs/reproduction/runs.toml \
	    --format markdown > target/confucius.md
	mv target/confucius.md docs/reproduction/

# The pages of docs/reproduction that need Linux: some three hours of two processors.
.PHONY: reproduction-linux
reproduction-linux: setup
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
	sh scripts/kernel-engine.sh 6.1
	$(ANALECTS) agree engines/all --quick --format markdown > target/linux.md && mv target/linux.md docs/reproduction/linux.md
	$(ANALECTS) reproduce confucius/fig16 --quick --format markdown > target/fig16.md && \
	    mv target/fig16.md docs/reproduction/confucius-fig16.md

# docs/reproduction/engines.md: five scenarios in all three engines. Half an hour of a host with little else to do, as root.
.PHONY: reproduction-engines
reproduction-engines: setup
	sh scripts/kernel-engine.sh 6.1
	sh scripts/three-engines.sh > target/engines.md && mv target/engines.md docs/reproduction/

# Our qdiscs in Debian's stock kernels 6.1, 6.12 and 7.x; KERNELS=6.1 for fewer.
.PHONY: test-kernel
test-kernel:
	bash scripts/test-kernel.sh $(KERNELS)

# Instructions per packet of qdiscs in a real kernel. Writes target/bench-kernel.json; SHORT=1 as above.
bench-kernel:
	sh scripts/bench-kernel.sh $(KERNEL) $(if $(SHORT),--short)

# The same on processors of routers, Cortex-A7 and Cortex-A53, each emulated. SHORT=1: with one flow.
.PHONY: bench-routers
bench-routers: setup
	sh scripts/bench-routers.sh $(if $(SHORT),--short)

# Our qdiscs in a kernel full of sanitizers: churn, hostile netlink, a scanner. Builds that kernel once.
test-kernel-sanitizers:
	sh scripts/kernel-sanitizers.sh

# Our qdiscs on two processors in a kernel that looks for data races. Builds that kernel once.
.PHONY: test-kernel-races
test-kernel-races:
	sh scripts/kernel-races.sh

# Mutants of Confucius, in C and Rust, and their survivors: `sh scripts/mutants.sh c` for the
# core in C alone, which takes minutes; in Rust it takes hours, and SHARD=1/8 a part of them.
.PHONY: mutants
mutants:
	sh scripts/mutants.sh

# The modules as patches for the kernel: they apply to Debian's source of 7.x and build there.
.PHONY: test-upstream
test-upstream:
	sh scripts/test-upstream.sh

# Each parser under a fuzzer for a minute; needs a nightly toolchain and cargo-fuzz.
fuzz:
	sh scripts/fuzz.sh

# The description of mencius as an Internet-Draft, in text and HTML, into target/draft.
.PHONY: draft
draft:
	sh scripts/draft.sh

# Man pages and completions, into target/man and target/completions.
man:
	$(CARGO) build --profile $(ANALECTS_PROFILE) --locked -p analects
	$(ANALECTS) man target/man
	mkdir -p target/completions
	for shell in bash zsh fish; do $(ANALECTS) completions $$shell > target/completions/analects.$$shell; done

# The Debian packages of the modules, of tc's side and of the programs, into target/deb.
deb:
	sh scripts/deb.sh --check
	sh scripts/deb-program.sh --check

# Those of tc's side and of the programs for arm64, into target/deb-arm64; the modules' package is for all.
.PHONY: deb-arm64
deb-arm64: setup
	sh scripts/deb.sh --check arm64
	sh scripts/deb-program.sh --check arm64

# They are installed in a fresh Debian 12 in a chroot, tried, and removed.
test-deb: deb
	sh scripts/test-deb.sh

# Static programs for x86_64, aarch64 and armv7, into target/programs, each tried: those of other processors under
# QEMU's user emulation. PROCESSORS="aarch64 armv7" for some.
.PHONY: dist
dist: setup
	sh scripts/dist.sh $(PROCESSORS)
	sh scripts/test-dist.sh $(PROCESSORS)

# A folder that opkg takes as a repository of `analects-router`, and apk if APK names apk-tools' program, into
# target/feed; installed into an empty root by OPKG and APK, where they are named.
.PHONY: feed
feed: setup
	sh scripts/feed.sh
	sh scripts/test-feed.sh

# tc's side under the tc of Debian 13 and of unstable, in a virtual machine.
test-tc: kernel-engine
	sh scripts/tc-versions.sh

# The modules, a core and tc's side for other processors, tried under qemu.
cross:
	sh scripts/cross.sh

setup:
	@sh scripts/setup.sh

clean:
	$(CARGO) clean
	rm -rf report*.html reproduction

# The Python package: a workspace of its own, whose changes are no input of other checks.
-include python/targets.mk
