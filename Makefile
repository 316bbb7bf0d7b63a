# dflc: compiler and exact evaluator for DFL.
#
#   make                      the program, build/dflc
#   make test                 everything that is tested; ends with `N passed, N failed`
#   make help                 the other targets
#
# VARIANT=release|asan|tsan|cover|hostile|fuzz   CC=gcc|clang   BUILD=directory   V=1 shows the commands

MAKEFLAGS += --no-builtin-rules --no-builtin-variables
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

VERSION := 0.1.0
BUILD   ?= build
VARIANT ?= release
ifneq ($(filter default undefined,$(origin CC)),)
CC := gcc
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := ar
endif
CLANG   ?= clang
BISON   ?= bison
FLEX    ?= flex
JOBS    ?= $(shell nproc 2>/dev/null || echo 1)
N       ?= 1000
FUZZ_SECONDS ?= 30
# OSS-Fuzz sets this one.
LIB_FUZZING_ENGINE ?= -fsanitize=fuzzer
BUILD_PACKAGES := gcc libc6-dev make flex bison libjansson-dev libutf8proc-dev libxxhash-dev libfyaml-dev
TEST_PACKAGES  := libcmocka-dev vim
CHECK_PACKAGES := clang libclang-rt-14-dev cppcheck emacs-nox
PREFIX  ?= /usr/local
DESTDIR ?=
V       ?= 0
Q       := $(if $(filter 1,$(V)),,@)
say      = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')

O   := $(BUILD)/$(VARIANT)
GEN := $(BUILD)/gen

# ---- flags -------------------------------------------------------------------------------------------------------

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Wformat=2 -Wvla -Wundef \
        -Wpointer-arith -Wcast-qual -Wwrite-strings -Wimplicit-fallthrough -Wswitch-enum
WERROR ?= -Werror
# What flex and bison write is not ours to reword.
WARN_GENERATED := -Wall -Wno-sign-compare -Wno-unused-function -Wno-unused-but-set-variable

VARIANT_release := -O2 -D_FORTIFY_SOURCE=2
VARIANT_asan    := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
VARIANT_tsan    := -O1 -fno-omit-frame-pointer -fsanitize=thread
VARIANT_cover   := -O0 --coverage
VARIANT_fuzz    := -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
VARIANT_hostile := -O1 -DDFL_HOSTILE -fsanitize=address,undefined -fno-sanitize-recover=all
ifeq ($(origin VARIANT_$(VARIANT)),undefined)
$(error VARIANT is one of release, asan, tsan, cover, hostile, fuzz)
endif

INCLUDES := -Isrc -Iinclude -I$(GEN) -I.
CPPFLAGS_ALL := -DDFL_VERSION='"$(VERSION)"' $(INCLUDES) $(CPPFLAGS)
CFLAGS_ALL   := -std=gnu11 -g -ffp-contract=off -fstack-protector-strong -fPIE -pthread \
                -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(abspath $(BUILD))=build \
                -ffile-prefix-map=$(BUILD)=build $(VARIANT_$(VARIANT)) $(CFLAGS)
LDFLAGS_ALL  := -pie -pthread -Wl,-z,relro,-z,now $(filter -fsanitize% --coverage,$(VARIANT_$(VARIANT))) $(LDFLAGS)
LIBS         := -ljansson -lutf8proc -lfyaml -lm

# ---- sources -----------------------------------------------------------------------------------------------------
# Every room is found by wildcard; $(sort) keeps the order, and with it the program's bytes, the same everywhere.

SOURCES     := $(sort $(wildcard src/*/*.c src/*/*/*.c))
CMD_SOURCES := $(filter src/cmd/%,$(SOURCES))
LIB_SOURCES := $(filter-out src/cmd/%,$(SOURCES))
GENERATED   :=
ifneq ($(wildcard grammar/dfl.y),)
GENERATED   += $(GEN)/syntax/parser.c
endif
ifneq ($(wildcard grammar/dfl.l),)
GENERATED   += $(GEN)/syntax/lexer.c
endif

EXPLAIN_PAGES := $(sort $(wildcard src/diag/explain/E[0-9][0-9][0-9][0-9].md))
GENERATED_TEXT := $(GEN)/diag/explain_pages.inc

LIB_OBJECTS := $(patsubst %.c,$(O)/obj/%.o,$(LIB_SOURCES)) $(patsubst $(GEN)/%.c,$(O)/obj/gen/%.o,$(GENERATED))
CMD_OBJECTS := $(patsubst %.c,$(O)/obj/%.o,$(CMD_SOURCES))
LIB         := $(O)/libdfl.a
ifeq ($(VARIANT),release)
PROGRAM     := $(BUILD)/dflc
else
PROGRAM     := $(O)/dflc
endif

HARNESS_OBJECTS := $(patsubst %.c,$(O)/obj/%.o,$(sort $(wildcard tests/harness/*.c tests/property/case_*.c)))
UNIT_SOURCES    := $(sort $(wildcard tests/unit/*/test_*.c tests/property/test_*.c tests/golden/test_*.c))
PROPERTY        := $(O)/tests/property/property
TIMELOOP        := $(O)/tests/timeloop/timeloop
ACCELFORGE      := $(O)/tests/accelforge/accelforge
OPTIMUM         := $(O)/tests/mapper/optimum
EXHAUSTIVE      := $(O)/tests/mapper/exhaustive
MONOTONE        := $(O)/tests/mapper/monotone
CERTIFIED       := $(O)/tests/mapper/certified
BEYOND          := $(O)/tests/mapper/beyond
UNIT_PROGRAMS   := $(patsubst tests/%.c,$(O)/tests/%,$(UNIT_SOURCES))
BENCH_PROGRAMS  := $(patsubst tests/%.c,$(O)/tests/%,$(sort $(wildcard tests/bench/bench_*.c)))
FUZZ_SOURCES    := $(sort $(wildcard tests/fuzz/fuzz_*.c))
JUDGE           := amounts between braces build fronts judge lines share tiny
FUZZ_FRAME      := $(O)/obj/tests/fuzz/importer.o $(patsubst %,$(O)/obj/tests/mapper/%.o,$(JUDGE) partial)
REPLAY_PROGRAMS := $(patsubst tests/%.c,$(O)/tests/%,$(FUZZ_SOURCES))
FUZZ_PROGRAMS   := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(FUZZ_SOURCES))
# The tests that are rows of a table: SCRIPT:ROW. What takes longest is begun first, so that no processor waits for it in the end.
PROBLEM_TESTS   := $(patsubst %,tests/mapper/run_problems.sh:%,$(shell sed -n 's/^\([a-z0-9_]*\)\t.*/\1/p' tests/mapper/problems.tsv))
CLI_TESTS       := $(patsubst tests/cli/%.cli,tests/cli/run_cli.sh:%,$(sort $(wildcard tests/cli/*.cli)))
LONG_TESTS      := $(PROBLEM_TESTS) $(patsubst %,tests/%.sh,golden/run_golden mapper/run_mapper mapper/run_growing)
SCRIPT_TESTS    := tests/cli/run_cli.sh:map $(LONG_TESTS) $(filter-out tests/cli/run_cli.sh:map,$(CLI_TESTS)) \
                   $(filter-out $(LONG_TESTS) tests/mapper/run_problems.sh tests/cli/run_cli.sh,$(sort $(wildcard tests/*/run*.sh tests/*/*/run*.sh)))

.PHONY: all lib help test test-run unit clean deps demo editors install arch static repro fuzz-smoke fuzz-programs bench \
        prove optimal mutate cover compile
all: lib $(if $(CMD_SOURCES),$(PROGRAM))
lib: $(LIB)

help:
	@sed -n 's/^## //p' Makefile

## make                     the program, $(BUILD)/dflc, and its library
## make deps                the Debian packages that are missing, with the line that installs them
## make demo                installs them, builds, and evaluates examples/attention.dfl
## make test                installs what tests need, builds and runs all tests
## make unit                the unit tests alone
## make static              both compilers, layer check, cppcheck, reproducible build
## make arch                who includes whom, sizes, forbidden calls, globals
## make editors             the files of the editors and dfl.dict, from the words of the grammar
## make fuzz-smoke          libFuzzer with ASan and UBSan, FUZZ_SECONDS=30 a target
## make prove N=100000      random mappings against the execution oracle, SEED=1
## make optimal N=10000     random problems, the search against an enumeration of all mappings, SEED=1
## make mutate              mutants of the formulas that the tests must kill
## make bench               the figures of the README
## make cover               line coverage of the tests
## make install             DESTDIR= PREFIX=/usr/local
## make clean               removes $(BUILD)

# ---- build -------------------------------------------------------------------------------------------------------

# Changed flags or another compiler rebuild everything of the variant.
FLAGS_NOW := $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(WARN) $(WERROR) | $(LDFLAGS_ALL) $(LIBS)
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@
.PHONY: FORCE
FORCE:

$(O)/obj/%.o: %.c $(O)/flags | $(GENERATED) $(GENERATED_TEXT)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(CFLAGS_ROOM) $(WARN) $(WERROR) -MMD -MP -c $< -o $@

# What judges a search evaluates a thousand mappings: it tells a fuzzer nothing, and the comparisons of the model, which look for no
# magic numbers, would take most of its time.
ifeq ($(VARIANT),fuzz)
$(O)/obj/tests/mapper/%.o: CFLAGS_ROOM := -fno-sanitize=fuzzer-no-link
$(O)/obj/src/model/%.o $(O)/obj/src/ir/%.o: CFLAGS_ROOM := -fno-sanitize-coverage=trace-cmp
endif

$(O)/obj/gen/%.o: $(GEN)/%.c $(O)/flags | $(GENERATED) $(GENERATED_TEXT)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(WARN_GENERATED) $(WERROR) -MMD -MP -c $< -o $@

$(LIB): $(LIB_OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $(LIB_OBJECTS)

$(PROGRAM): $(CMD_OBJECTS) $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(CMD_OBJECTS) $(LIB) $(LIBS) -o $@

# Included as "syntax/parser.h" and "syntax/lexer.h".
$(GEN)/syntax/parser.c: grammar/dfl.y
	$(call say,BISON,$<)
	@mkdir -p $(@D)
	$(Q)$(BISON) -Wall -Werror -Wcounterexamples --header=$(GEN)/syntax/parser.h -o $@ $<

$(GEN)/syntax/lexer.c: grammar/dfl.l
	$(call say,FLEX,$<)
	@mkdir -p $(@D)
	$(Q)$(FLEX) -Cfe --header-file=$(GEN)/syntax/lexer.h -o $@ $<

$(GEN)/syntax/parser.h: $(GEN)/syntax/parser.c
$(GEN)/syntax/lexer.h: $(GEN)/syntax/lexer.c

# The directory is named too: a page that went away must leave the table.
$(GEN)/diag/explain_pages.inc: $(EXPLAIN_PAGES) src/diag/explain/embed.awk src/diag/explain
	@mkdir -p $(@D)
	$(Q)awk -f src/diag/explain/embed.awk $(EXPLAIN_PAGES) /dev/null > $@

clean:
	rm -rf $(BUILD)

# ---- packages ----------------------------------------------------------------------------------------------------

deps:
	@sh tests/harness/packages check $(BUILD_PACKAGES) $(TEST_PACKAGES) $(CHECK_PACKAGES) && echo 'nothing is missing'

demo:
	@sh tests/harness/packages install $(BUILD_PACKAGES)
	@$(MAKE) --no-print-directory all
	$(PROGRAM) eval examples/attention.dfl

# Committed, so that an editor takes them from the tree; tests/editors sees when they are out of date.
editors:
	sh editors/generate.sh .

install: all
	install -d '$(DESTDIR)$(PREFIX)/lib/pkgconfig' '$(DESTDIR)$(PREFIX)/share/dflc'
	install -m 644 $(LIB) '$(DESTDIR)$(PREFIX)/lib/libdfl.a'
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: dfl' 'Description: compiler and exact evaluator for DFL' 'Version: $(VERSION)' \
	    'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -ldfl $(LIBS) -pthread' \
	    > '$(DESTDIR)$(PREFIX)/lib/pkgconfig/dfl.pc'
	if [ -f '$(PROGRAM)' ]; then install -D -m 755 '$(PROGRAM)' '$(DESTDIR)$(PREFIX)/bin/dflc'; fi
	install -D -m 644 include/dfl/dfl.h '$(DESTDIR)$(PREFIX)/include/dfl/dfl.h'
	install -D -m 644 include/dfl/search.h '$(DESTDIR)$(PREFIX)/include/dfl/search.h'
	if [ -f src/cmd/dflc.1 ]; then install -D -m 644 src/cmd/dflc.1 '$(DESTDIR)$(PREFIX)/share/man/man1/dflc.1'; fi
	install -D -m 644 editors/shell/dflc.bash '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/dflc'
	install -D -m 644 editors/shell/dflc.zsh '$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_dflc'
	install -D -m 644 editors/shell/dflc.fish '$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/dflc.fish'
	cd editors && find vim emacs vscode -type f -exec install -D -m 644 '{}' '$(abspath $(DESTDIR)/$(PREFIX))/share/dflc/editors/{}' ';'
	cd stdlib && find . -type f -name '*.dfl' -exec install -D -m 644 '{}' '$(abspath $(DESTDIR)/$(PREFIX))/share/dflc/stdlib/{}' ';'

# ---- tests -------------------------------------------------------------------------------------------------------

$(O)/tests/%: $(O)/obj/tests/%.o $(HARNESS_OBJECTS) $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(HARNESS_OBJECTS) $(LIB) $(LIBS) -lcmocka -o $@

# Compare with the reports of peers, whose inputs are YAML.
$(TIMELOOP): $(patsubst %.c,$(O)/obj/%.o,$(sort $(wildcard tests/timeloop/*.c))) $(LIB)
$(ACCELFORGE): $(patsubst %.c,$(O)/obj/%.o,$(sort $(wildcard tests/accelforge/*.c))) $(LIB)
$(OPTIMUM): $(patsubst %,$(O)/obj/tests/mapper/%.o,accelforge freedom optimum timeloop) \
            $(patsubst %.c,$(O)/obj/%.o,$(filter-out tests/timeloop/timeloop.c,$(sort $(wildcard tests/timeloop/*.c)))) $(LIB)
$(EXHAUSTIVE): $(patsubst %,$(O)/obj/tests/mapper/%.o,exhaustive partial $(JUDGE)) $(LIB)
$(MONOTONE): $(patsubst %,$(O)/obj/tests/mapper/%.o,monotone tiny) $(LIB)
$(CERTIFIED): $(patsubst %,$(O)/obj/tests/mapper/%.o,certified tiny) $(LIB)
$(BEYOND): $(patsubst %,$(O)/obj/tests/mapper/%.o,beyond $(JUDGE)) $(LIB)
$(TIMELOOP) $(ACCELFORGE) $(OPTIMUM) $(EXHAUSTIVE) $(MONOTONE) $(CERTIFIED) $(BEYOND):
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $^ $(LIBS) -o $@

# A fuzz target with a main of its own that replays files; see tests/fuzz/replay.c.
$(REPLAY_PROGRAMS): $(O)/tests/fuzz/%: $(O)/obj/tests/fuzz/%.o $(FUZZ_FRAME) $(O)/obj/tests/fuzz/replay.o $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(FUZZ_FRAME) $(O)/obj/tests/fuzz/replay.o $(LIB) $(LIBS) -o $@

.PRECIOUS: $(O)/obj/%.o

RUN_TESTS = BUILD='$(BUILD)' OUT='$(O)' DFLC='$(PROGRAM)' VARIANT='$(VARIANT)' CC='$(CC)' bash tests/harness/run_tests

test:
	@sh tests/harness/packages install $(BUILD_PACKAGES) $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory test-run

test-run: all $(UNIT_PROGRAMS) $(PROPERTY) $(TIMELOOP) $(ACCELFORGE) $(OPTIMUM) $(EXHAUSTIVE) $(MONOTONE) $(CERTIFIED) $(BEYOND) $(REPLAY_PROGRAMS)
	@$(RUN_TESTS) $(SCRIPT_TESTS) $(UNIT_PROGRAMS) $(REPLAY_PROGRAMS)

# Everything that can be compiled, and nothing run.
compile: all $(UNIT_PROGRAMS) $(PROPERTY) $(TIMELOOP) $(ACCELFORGE) $(OPTIMUM) $(EXHAUSTIVE) $(MONOTONE) $(CERTIFIED) $(BEYOND) $(REPLAY_PROGRAMS) $(BENCH_PROGRAMS)

unit: all $(UNIT_PROGRAMS)
	@$(RUN_TESTS) $(UNIT_PROGRAMS)

arch: lib
	@OUT='$(O)' bash tests/arch/run_arch.sh

# ---- checks that take longer -------------------------------------------------------------------------------------

static:
	@sh tests/harness/packages install $(BUILD_PACKAGES) $(TEST_PACKAGES) $(CHECK_PACKAGES)
	@BUILD='$(BUILD)' MAKE='$(MAKE)' JOBS='$(JOBS)' bash tests/harness/static

fuzz-smoke:
	@sh tests/harness/packages install $(BUILD_PACKAGES) $(CHECK_PACKAGES)
	@$(MAKE) --no-print-directory VARIANT=fuzz CC='$(CLANG)' fuzz-programs
	@OUT='$(BUILD)/fuzz' FUZZ_SECONDS='$(FUZZ_SECONDS)' bash tests/fuzz/smoke.sh $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/fuzz/%,$(FUZZ_SOURCES))

fuzz-programs: $(FUZZ_PROGRAMS)

$(O)/fuzz/%: $(O)/obj/tests/fuzz/%.o $(FUZZ_FRAME) $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(filter-out -fsanitize=fuzzer-no-link%,$(LDFLAGS_ALL)) -fsanitize=address,undefined \
	    $(LIB_FUZZING_ENGINE) $< $(FUZZ_FRAME) $(LIB) $(LIBS) -o $@

bench: all $(BENCH_PROGRAMS)
	@for b in $(BENCH_PROGRAMS); do $$b || exit 1; done
	@for b in $(sort $(wildcard tests/bench/*.sh)); do BUILD='$(BUILD)' OUT='$(O)' DFLC='$(PROGRAM)' bash $$b || exit 1; done

prove: $(PROPERTY)
	@$(PROPERTY) $(or $(N),100000) $(or $(SEED),1)

optimal: $(EXHAUSTIVE) $(MONOTONE)
	@$(EXHAUSTIVE) $(or $(N),10000) $(or $(SEED),1)
	@$(MONOTONE) $(or $(N),10000) $(or $(SEED),1)

mutate: all $(PROPERTY) $(UNIT_PROGRAMS)
	@BUILD='$(BUILD)' OUT='$(O)' DFLC='$(PROGRAM)' MAKE='$(MAKE)' bash tests/property/mutate.sh

cover:
	@$(MAKE) --no-print-directory VARIANT=cover test-run
	@OUT='$(BUILD)/cover' bash tests/harness/coverage

-include $(shell test -d $(O)/obj && find $(O)/obj -name '*.d' | LC_ALL=C sort)
