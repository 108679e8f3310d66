# demo and test are the two commands that matter; both install what is missing.

GO := .ci/go
BIN := bin
DEMO := demo
# The build must not depend on where the checkout lies or on its git state.
FLAGS := -trimpath -buildvcs=false

.PHONY: demo build test test-corpora lint bench clean

demo: build
	.ci/demo $(DEMO)

build: $(BIN)/litmus $(BIN)/litmus-init

# Go decides what is stale, not make.
.PHONY: $(BIN)/litmus $(BIN)/litmus-init
$(BIN)/litmus: install
	CGO_ENABLED=0 $(GO) build $(FLAGS) -o $@ ./cmd/litmus
$(BIN)/litmus-init: install
	CGO_ENABLED=0 $(GO) build $(FLAGS) -ldflags "-s -w" -o $@ ./cmd/litmus-init

.PHONY: install install-tests
install:
	.ci/install
install-tests:
	.ci/install --tests

test: install-tests build lint
	$(GO) test -race -timeout 25m ./...

# The folder with the files of RedCode-Exec, or the one that it lies in.
REDCODE = $(abspath $(firstword $(wildcard $(CORPORA)/redcode-exec) $(CORPORA)))

test-corpora: install-tests build
	@test -d "$(CORPORA)" || { echo "corpora: no folder '$(CORPORA)'; give CORPORA=DIR" >&2; exit 1; }
	LITMUS_CORPORA="$(REDCODE)" $(GO) test -tags corpora -timeout 20m -run Corpora -v ./mutation/importer ./cmd/litmus

lint:
	$(GO) vet ./...
	$(GO) vet -tags corpora ./...
	$(GO) tool staticcheck ./...

bench: install-tests
	$(GO) test -run '^$$' -bench . -benchmem ./...

clean:
	rm -rf $(BIN) $(DEMO)
