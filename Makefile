# The verbs of this repository; `make` alone lists them. CI calls exactly these.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty --abbrev=12 2>/dev/null || echo unknown)
# Every suite that make test leaves out carries one of these build tags. accept
# also replaces the sizes of the short suites, so linters look both ways.
TAGS     := accept,verify,oracle,dynamo,engines,vllm,kube,browser
FUZZTIME ?= 5s
BENCH    ?= .
# PKGS narrows test and race to some packages.
PKGS     ?= ./...
# GOTESTFLAGS goes to every go test; CI adds -json and -count=1 through it.
GOTESTFLAGS ?=

# Linters live in their own module file, so that no linter enters the main module graph.
TOOL := $(GO) tool -modfile=tools/go.mod

.PHONY: help
help: ## list the verbs
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

.PHONY: build
build: ## build bin/perfsweep, static, stamped with the version
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/perfsweep ./cmd/perfsweep

# The time limits below find what hangs. They are many times what a quiet machine
# takes, so that a busy one fails no test.
.PHONY: test
test: ## every test that needs nothing but Go
	$(GO) test $(GOTESTFLAGS) -timeout 30m $(PKGS)

# Whole processes that measure in real time: seven times slower, the generator
# would rightly call itself the bottleneck. Everything they run is raced in
# virtual time.
REALTIME := ^(TestScript|TestKilled|TestKilledInTurns|TestKilledWindow|TestInterrupted|TestTargetDies|TestReaderGone|TestLiveInterrupted|TestLiveFinished)$$

.PHONY: race
race: ## the same tests in their short form under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test $(GOTESTFLAGS) -race -short -skip '$(REALTIME)' -timeout 60m $(PKGS)

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME (5s)
	test/fuzz.sh $(FUZZTIME)

.PHONY: bench
bench: ## benchmarks matching BENCH
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 20m $(PKGS)

# PARTS narrows figures to some of decode load ttft start hold, or adds scrape, aiperf or bias.
PARTS ?=
.PHONY: figures
figures: build ## what is claimed of the generator, beside its references; five minutes of a quiet machine
	PERFSWEEP_SHARED=$${PERFSWEEP_SHARED:-$(abspath ../shared)} $(GO) run ./test/figures -bin bin/perfsweep $(PARTS)

# SETS=2 makes every pair once more and holds the repeat against the first.
SETS ?= 1
.PHONY: bias
bias: build ## AIPerf and perfsweep, each against what a server says it served; writes docs/bias.md (20 minutes; needs a package index once)
	PERFSWEEP_SHARED=$${PERFSWEEP_SHARED:-$(abspath ../shared)} $(GO) run ./test/figures -bin bin/perfsweep -sets $(SETS) -runs docs/examples/bias.jsonl bias
	$(MAKE) bias-page

.PHONY: bias-page
bias-page: ## write the tables of docs/bias.md from its runs; a test compares the two
	$(GO) test -count=1 -run '^TestBiasPage$$' ./test/figures -update

.PHONY: reference
reference: ## write docs/reference from the program; a test compares the two
	$(GO) test -count=1 -run '^TestReference$$' ./cmd/perfsweep -update

.PHONY: lint
lint: fmt vet staticcheck errcheck ## gofmt, vet, staticcheck and errcheck, suites behind tags included

.PHONY: fmt
fmt:
	@bad=$$(gofmt -l .); if [[ -n $$bad ]]; then echo "gofmt -w these:" >&2; echo "$$bad" >&2; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...
	$(GO) vet -tags $(TAGS) ./...

.PHONY: staticcheck
staticcheck:
	$(TOOL) staticcheck ./...
	$(TOOL) staticcheck -tags $(TAGS) ./...

.PHONY: errcheck
errcheck:
	$(TOOL) errcheck -exclude tools/errcheck.txt ./...
	$(TOOL) errcheck -exclude tools/errcheck.txt -tags $(TAGS) ./...

.PHONY: demo
demo: build ## calibrate a simulated GB300 end to end, then check a healthy, a slow and a stalling one
	test/demo.sh bin/perfsweep demo

# SEEDS are the seeds that make accept draws its curves from; publish figures on
# five that nobody has seen before. One core: packages one after the other.
SEEDS    ?= 1 2 3 4 5
.PHONY: accept
accept: ## the statistical acceptance as a table, on SEEDS (about 20 minutes)
	@echo "seeds: $(SEEDS)"
	PERFSWEEP_ACCEPT_SEEDS="$(SEEDS)" $(GO) test $(GOTESTFLAGS) -json -count=1 -p 1 -tags accept -run Accept -timeout 90m ./knee ./sweep ./sweep/observe ./calibrate | $(GO) run ./test/acceptance

.PHONY: verify
verify: ## timing against the real Dynamo frontend's own histograms, 4,096 streams, and a sweep that is stopped (needs PERFSWEEP_SHARED or ../shared)
	PERFSWEEP_SHARED=$${PERFSWEEP_SHARED:-$(abspath ../shared)} $(GO) test $(GOTESTFLAGS) -count=1 -v -p 1 -tags verify -run Verify -timeout 30m ./test/dynamo/ ./loadgen/pacer/ ./cmd/perfsweep/

.PHONY: lost
lost: ## a check of a real Dynamo frontend that lost one of four workers, ten times (20 minutes)
	PERFSWEEP_SHARED=$${PERFSWEEP_SHARED:-$(abspath ../shared)} $(GO) test $(GOTESTFLAGS) -count=1 -v -tags verify -run LostWorkerOften -timeout 60m ./test/dynamo/

.PHONY: bottlenecks
bottlenecks: ## known bottlenecks of a real Dynamo frontend, each named in five of five runs (16 minutes)
	PERFSWEEP_SHARED=$${PERFSWEEP_SHARED:-$(abspath ../shared)} $(GO) test $(GOTESTFLAGS) -count=1 -v -tags verify -run BottlenecksOften -timeout 60m ./test/dynamo/

.PHONY: vllm
vllm: ## token counts against a real vLLM on this CPU (5 GB, minutes), or against the one at PERFSWEEP_VLLM_URL
	PERFSWEEP_SHARED=$${PERFSWEEP_SHARED:-$(abspath ../shared)} $(GO) test $(GOTESTFLAGS) -count=1 -v -tags vllm -run VLLM -timeout 45m ./test/engines/

.PHONY: test-kube
test-kube: ## the binary in a real cluster: a bed of KBED, else the cluster of KUBECONFIG with PERFSWEEP_IMAGE
	$(GO) test $(GOTESTFLAGS) -count=1 -tags kube -timeout 25m ./test/kube/

.PHONY: calibrate-kube
calibrate-kube: ## a gate measured by three pods in a real cluster and written, nothing relaxed (20 minutes); as test-kube
	$(GO) test $(GOTESTFLAGS) -count=1 -v -tags kube,verify -run CalibrateWritten -timeout 100m ./test/kube/

# Pictures of the report, to be looked at, are left in ARTIFACTS.
ARTIFACTS ?= $(abspath artifacts)/report
.PHONY: browser
browser: ## the report in a headless Chromium, which must be installed; its pictures are in artifacts/report
	PERFSWEEP_ARTIFACTS=$(ARTIFACTS) $(GO) test $(GOTESTFLAGS) -count=1 -tags browser -timeout 20m ./test/browser/

# A release depends on its sources, on the version of Go and on these three, and
# on nothing else of the place where it is made: without git or tags, give VERSION.
COMMIT            ?= $(shell git rev-parse HEAD 2>/dev/null)
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
# PLATFORMS narrows a release, such as PLATFORMS=linux/amd64.
PLATFORMS         ?=
RELEASE = $(GO) run ./test/release -version '$(VERSION)' -commit '$(COMMIT)' -epoch '$(SOURCE_DATE_EPOCH)' $(addprefix -platform ,$(PLATFORMS))

.PHONY: release
release: ## dist/: archives for linux and macOS with man pages, their SBOM (SPDX 2.3), SHA256SUMS
	rm -rf dist
	$(RELEASE) dist

.PHONY: release-check
release-check: release ## the same again elsewhere with an empty cache: equal bytes, and starts in 50 ms (minutes)
	$(RELEASE) -check dist

.PHONY: ci
ci: ## everything that .ci/run runs
	bash .ci/run
