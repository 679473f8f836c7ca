# Two commands matter: `make demo` does the main job, `make test` passes all tests.
# Each sets up what it needs; see `scripts/setup.sh`. `make help` lists the targets, and what they take.

CARGO ?= cargo
# The profile of what is run; dev is that of the tests, and shares their dependencies.
ANALECTS_PROFILE ?= release
export ANALECTS_PROFILE
# A first build needs nothing for a second one. CARGO_INCREMENTAL=1 for those who build again and again.
CARGO_INCREMENTAL ?= 0
export CARGO_INCREMENTAL
# What is said here is not for other makefiles, such as the kernel's, that scripts call.
unexport MAKEFLAGS ARCH

# Not `rtc`, which stands on 43 more crates and on aws-lc in C, nor what needs a Python: `make test OF="webrtc python"`
# has them.
MOST = --workspace --exclude rtc --exclude analects-python

# What OF of a target can be: each NAME of a scripts/TARGET-NAME.sh, or .py. `make test-kernel` is a target of its own.
files = $(filter-out scripts/test-kernel.sh,$(wildcard scripts/$(1)-*.sh scripts/$(1)-*.py))
names = $(patsubst scripts/$(1)-%,%,$(basename $(call files,$(1))))
# Runs those that OF names.
each = $(foreach one,$(filter-out $(call names,$(1)),$(OF)),$(error OF=$(one): expected OF of $(call names,$(1)))) \
    for script in $(foreach one,$(OF),$(wildcard scripts/$(1)-$(one).sh scripts/$(1)-$(one).py)); do \
        case $$script in *.py) run=python3 ;; *) run=sh ;; esac; \
        $$run $$script $(if $(SHORT),--short) $(if $(RECORD),--record) || exit; \
    done

.PHONY: help demo test lint deny release-gate kernel-engine test-kernel sanitizers bench count witness mutants fuzz \
    reproduction playground site draft man deb dist feed python setup clean

# The targets, and of each what the comment above it says first.
help:
	@awk '/^# /{said = said (said ? " " : "") substr($$0, 3); next} \
	    /^[a-z][a-z-]*:/{split($$1, name, ":"); if (said) { \
	        sub(/\. .*|\.$$/, "", said); printf "%-14s %s\n", name[1], said } } \
	    {said = ""}' Makefile
	@echo "OF of test:  $(call names,test)"
	@echo "OF of bench: $(call names,bench)"
	@echo "OF of reproduction: see scripts/reproduction.sh"

# Two tables and a report of what queues do to a household. Of the tests' profile, and without what needs this host's
# network: seen at once, and `make test` shares it.
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

# All tests that need no root, kernel or browser; OF="link page" for those of real programs. Each is a file
# scripts/test-NAME.sh, whose head says what it needs.
test: setup
ifdef OF
	@$(call each,test)
else
	$(CARGO) test $(MOST) --locked
endif

# Format, clippy and rustdoc, which `.ci/run` asks for before the tests. Needs rustfmt and clippy, which not every
# toolchain has.
lint: setup
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy $(MOST) --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(MOST) --no-deps --locked --quiet

# Licences, bans, sources and advisories of all dependencies. Builds cargo-deny, once.
deny: setup
	sh scripts/deny.sh

# All checks, in some hours; STAGES="a b" for some. An interrupted gate goes on where it was, on the same commit.
release-gate: setup
	python3 scripts/check $(or $(STAGES),gate)

# The kernels that the engine `kernel` boots, fetched and built once; RELEASE=6.12, 7.x, or all.
kernel-engine:
	@sh scripts/kernel-engine.sh $(RELEASE)

# Our qdiscs in Debian's stock kernels 6.1, 6.12 and 7.x; RELEASE=6.1 for one of them, SHORT=1 in minutes.
test-kernel:
	bash scripts/test-kernel.sh $(if $(SHORT),--short) $(RELEASE)

# Our qdiscs in a kernel full of sanitizers; OF=mencius for one of them, OF=races for data races. Churn, hostile
# netlink, a scanner; races on two processors. Builds that kernel once.
sanitizers:
	@for of in $(or $(OF),$(shell sh kernel/copy.sh --list)); do \
	    case $$of in \
	    races) sh scripts/kernel-races.sh ;; \
	    *) sh scripts/kernel-sanitizers.sh --kind $$of ;; \
	    esac || exit; \
	done

# Speed, ours and ns-3's where libns3-dev is installed; OF="kernel live" for other speeds.
# Writes target/bench.json. SHORT=1 only checks that everything can be measured. RELEASE=6.12 is another kernel of
# OF=kernel, RECORD=1 writes the record of OF=first-minute anew; OF=live stands beside mahimahi's mm-link and rattan if
# MAHIMAHI names the folder of a build and RATTAN the program.
bench: setup
ifdef OF
	@$(call each,bench)
else
	sh scripts/bench.sh $(if $(SHORT),--short)
endif

# Instructions of the simulator per forwarded packet in six scenarios; SHORT=1 in one. Fails if one takes over 2 % more
# than bench/instructions.json has (SHORT: 5 %). RECORD=1 writes the file anew.
count: setup
	sh scripts/apt.sh valgrind
	"$$(sh scripts/built.sh bench)" count $(if $(SHORT),--short) $(if $(RECORD),--record)

# What others wrote, or wrote anew, beside ours: OF=gcc and OF=receiver are libwebrtc's own, OF=mencius is in Python. The
# first two are fetched and built once, outside of the tree, and write the records that `make test` replays.
witness: setup
	sh scripts/witness-$(or $(OF),gcc).sh

# Mutants of Confucius and their survivors; OF=c takes minutes, OF=rust hours, SHARD=1/8 a part of them.
mutants:
	sh scripts/mutants.sh $(OF)

# Each parser under a fuzzer for a minute. Needs a nightly toolchain and cargo-fuzz.
fuzz:
	sh scripts/fuzz.sh

# Pages of docs/reproduction, made again in hours; OF=floq for one, QUICK=1 and SHORT=1 for quick runs and no page. An
# interrupted run is continued.
reproduction: setup
	sh scripts/reproduction.sh $(if $(QUICK),--quick) $(if $(SHORT),--short) $(or $(OF),confucius-beyond)

# One page with the simulator inside, into target/playground.
playground: setup
	sh scripts/playground.sh

# The documents with a search, the playground and the demo's report as one folder, target/site. Its links are checked.
site: setup
	sh scripts/site.sh

# The description of mencius as an Internet-Draft, in text and HTML, into target/draft.
draft:
	sh scripts/draft.sh

# Man pages and completions, into target/man and target/completions.
man:
	analects=$$(sh scripts/built.sh analects) && $$analects man target/man && mkdir -p target/completions && \
	for shell in bash zsh fish; do $$analects completions $$shell > target/completions/analects.$$shell || exit; done

# The Debian packages of the modules, of tc's side and of the programs, into target/deb; ARCH=arm64 for that.
# Those are in target/deb-arm64. The modules' package is for all processors.
deb: setup
	sh scripts/deb.sh --check $(ARCH)
	sh scripts/deb-program.sh --check $(ARCH)

# Static programs for x86_64, aarch64 and armv7, into target/programs, each tried; PROCESSORS=aarch64 for one.
# Those of other processors run under QEMU's user emulation.
dist: setup
	sh scripts/dist.sh $(PROCESSORS)
	sh scripts/test-dist.sh $(PROCESSORS)

# A folder that opkg takes as a repository of `analects-router`, and apk, into target/feed. For apk if APK names
# apk-tools' program; installed into an empty root by OPKG and APK, where they are named.
feed: setup
	sh scripts/feed.sh
	sh scripts/test-feed.sh

# The wheel of the Python package, from what the demo has built; `make python ANALECTS_PROFILE=release` runs twice as fast.
python: ANALECTS_PROFILE = dev
python: setup
	sh python/build.sh

setup:
	@sh scripts/setup.sh

# All that was built and written.
clean:
	$(CARGO) clean
	rm -rf report*.html reproduction
