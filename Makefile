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
# Warnings for the output of flex and bison, which the project cannot change.
WARN_GENERATED := -Wall -Wno-sign-compare -Wno-unused-function -Wno-unused-but-set-variable

# -g1: lines and functions, as a backtrace needs; variables (CFLAGS=-g) take a fifth of the time of a build more.
VARIANT_release := -O2 -D_FORTIFY_SOURCE=2
# -Og compiles in two thirds of the time of -O1.
VARIANT_asan    := -Og -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
VARIANT_tsan    := -O1 -fno-omit-frame-pointer -fsanitize=thread
VARIANT_cover   := -O0 --coverage
VARIANT_fuzz    := -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
VARIANT_hostile := $(VARIANT_asan)
ifeq ($(origin VARIANT_$(VARIANT)),undefined)
$(error VARIANT is one of release, asan, tsan, cover, hostile, fuzz)
endif

INCLUDES := -Isrc -Iinclude -I$(GEN) -I.
CPPFLAGS_ALL := -DDFL_VERSION='"$(VERSION)"' $(INCLUDES) $(CPPFLAGS)
CFLAGS_ALL   := -std=gnu11 -g1 -ffp-contract=off -fstack-protector-strong -fPIE -pthread \
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

# VARIANT=hostile uses the objects of asan, except for the few sources that read DFL_HOSTILE. No header may read
# DFL_HOSTILE.
OBJ := $(O)/obj
ifeq ($(VARIANT),hostile)
OBJ := $(BUILD)/asan/obj
HOSTILE_SOURCES := $(shell grep -rl --include='*.c' DFL_HOSTILE src tests)
$(if $(shell grep -rl --include='*.h' DFL_HOSTILE src include tests),$(error a header reads DFL_HOSTILE))
endif
objects_of = $(patsubst %.c,$(O)/obj/%.o,$(filter $(HOSTILE_SOURCES),$(1))) \
             $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(HOSTILE_SOURCES),$(1)))

LIB_OBJECTS := $(call objects_of,$(LIB_SOURCES)) $(patsubst $(GEN)/%.c,$(OBJ)/gen/%.o,$(GENERATED))
CMD_OBJECTS := $(call objects_of,$(CMD_SOURCES))
LIB         := $(O)/libdfl.a
ifeq ($(VARIANT),release)
PROGRAM     := $(BUILD)/dflc
else
PROGRAM     := $(O)/dflc
endif


.PHONY: all lib help clean deps demo editors install
all: lib $(if $(CMD_SOURCES),$(PROGRAM))
lib: $(LIB)

help:
	@sed -n 's/^## //p' Makefile

## make                     the program, $(BUILD)/dflc, and its library
## make deps                the Debian packages that are missing, with the line that installs them
## make demo                installs them, builds, and maps examples/first.dfl
## make test                installs what tests need, builds and runs all tests; TIMES=1 prints the time of each
## make unit                the unit tests alone
## make static              both compilers, layer check, cppcheck, reproducible build
## make arch                who includes whom, sizes, forbidden calls, globals
## make editors             the files of the editors, dfl.dict, the man page and the completions
## make fuzz-smoke          libFuzzer with ASan and UBSan, FUZZ_SECONDS=30 a target
## make prove N=100000      random mappings against the execution oracle, SEED=1
## make optimal N=10000     random problems, the search against an enumeration of all mappings, SEED=1
## make schedule N=3000     the time of random nests and branches against their schedules, SEED=1
## make mutate              mutants of the formulas that the tests must kill
## make truth               predicted and measured times on real chips, all rows of the tables beside the repository
## make networks            whole networks on the chips of the library: latency, utilization, proof, and what chips lack
## make bench               the figures of tests/MEASURED.md
## make cover               line coverage of the tests
## make install             DESTDIR= PREFIX=/usr/local
## make clean               removes $(BUILD)

# ---- build -------------------------------------------------------------------------------------------------------

# Changed flags or another compiler rebuild everything of the variant.
FLAGS_NOW := $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(WARN) $(WERROR) | $(LDFLAGS_ALL) $(LIBS)
FLAGS := $(dir $(OBJ))flags
$(sort $(FLAGS) $(O)/flags): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@
.PHONY: FORCE
FORCE:

# A build on a system without the packages stops here and says what to install.
READY := $(BUILD)/prerequisites
$(READY):
	@CPPFLAGS='$(CPPFLAGS)' CFLAGS='$(CFLAGS)' sh tests/harness/prerequisites '$(CC)' '$(BISON)' '$(FLEX)' $(BUILD_PACKAGES)
	@mkdir -p $(@D) && touch $@
$(GENERATED) $(GENERATED_TEXT): | $(READY)

COMPILE = $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(CFLAGS_ROOM) $(WARN) $(WERROR) -MMD -MP -c $< -o $@
$(OBJ)/%.o: %.c $(FLAGS) | $(GENERATED) $(GENERATED_TEXT)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE)

$(patsubst %.c,$(O)/obj/%.o,$(HOSTILE_SOURCES)): $(O)/obj/%.o: %.c $(O)/flags | $(GENERATED) $(GENERATED_TEXT)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -DDFL_HOSTILE

# No coverage in the judge of a search: it evaluates a thousand mappings, which give a fuzzer no new paths, and traced
# comparisons of the model would take most of the time.
ifeq ($(VARIANT),fuzz)
$(O)/obj/tests/mapper/%.o: CFLAGS_ROOM := -fno-sanitize=fuzzer-no-link
$(O)/obj/src/model/%.o $(O)/obj/src/ir/%.o: CFLAGS_ROOM := -fno-sanitize-coverage=trace-cmp
endif

$(OBJ)/gen/%.o: $(GEN)/%.c $(FLAGS) | $(GENERATED) $(GENERATED_TEXT)
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
	$(PROGRAM) map examples/first.dfl

# Committed, so that an editor takes them from the tree; tests/editors and tests/cli/generated.cli see when they are out of date.
editors: all
	sh editors/generate.sh .
	$(PROGRAM) help man > src/cmd/dflc.1
	for shell in bash zsh fish; do $(PROGRAM) help $$shell > editors/shell/dflc.$$shell || exit 1; done

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
	cd stdlib && find . -type f \( -name '*.dfl' -o -name '*.csv' \) -exec install -D -m 644 '{}' '$(abspath $(DESTDIR)/$(PREFIX))/share/dflc/stdlib/{}' ';'

include tests/test.mk

-include $(shell find $(sort $(wildcard $(O)/obj $(OBJ))) /dev/null -name '*.d' | LC_ALL=C sort -u)
