# The test programs, and the targets that run them; a part of the Makefile.

.PHONY: truth networks test test-run compile unit arch static fuzz-smoke fuzz-programs bench prove schedule optimal mutate cover

# ---- programs ----------------------------------------------------------------------------------------------------
# A program is named once: $(call program,NAME,SOURCES) links tests/SOURCES.c with the library to $(O)/tests/NAME.

link = $(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(filter %.o,$^) $(LIB) $(LIBS)
program = $(eval PROGRAMS += $(O)/tests/$(1))$(eval $(O)/tests/$(1): $(patsubst %,$(OBJ)/tests/%.o,$(2)) $(LIB))
below = $(patsubst tests/%.c,%,$(sort $(wildcard $(patsubst %,tests/%,$(1)))))

# Random tiny problems, and the judge that compares their searches with an enumeration of mappings.
JUDGE := $(patsubst %,mapper/%,amounts between braces build charges fronts judge lines share tiny)
# Random small problems, and a rival of the search.
RIVAL := $(patsubst %,mapper/rival_%,climb draw list space trial)
$(call program,mapper/exhaustive,mapper/exhaustive mapper/partial $(JUDGE))
$(call program,mapper/beyond,mapper/beyond $(JUDGE))
$(call program,mapper/monotone,mapper/monotone mapper/tiny)
# First mappings on chips of the library.
$(call program,mapper/first,mapper/first)
$(call program,mapper/claims,mapper/claims mapper/tiny)
$(call program,mapper/threads,mapper/threads mapper/tiny)
$(call program,mapper/certified,mapper/certified mapper/tiny)
$(call program,mapper/rival,mapper/rival $(RIVAL))
$(call program,mapper/chains,mapper/chains mapper/rival_climb mapper/rival_draw)
$(call program,mapper/relations,mapper/relations mapper/rival_draw)
# Comparisons with the reports of peers.
$(call program,timeloop/timeloop,$(call below,timeloop/*.c))
$(call program,accelforge/accelforge,$(call below,accelforge/*.c))
$(call program,mapper/optimum,$(patsubst %,mapper/%,accelforge freedom optimum timeloop) \
    $(filter-out timeloop/timeloop,$(call below,timeloop/*.c)))
$(PROGRAMS):
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(link) -o $@

# Unit tests (cmocka), the test of random mappings by the oracle, and the benchmarks: one source file per program,
# linked with the harness.
HARNESS        := $(patsubst %,$(OBJ)/tests/%.o,$(call below,harness/*.c property/case_*.c))
UNIT_PROGRAMS  := $(patsubst %,$(O)/tests/%,$(call below,unit/*/test_*.c property/test_*.c golden/test_*.c))
BENCH_PROGRAMS := $(patsubst %,$(O)/tests/%,$(call below,bench/bench_*.c))
PROPERTY       := $(O)/tests/property/property
HARNESSED      := $(UNIT_PROGRAMS) $(BENCH_PROGRAMS) $(PROPERTY)
HOSTILE_UNITS  := $(patsubst tests/%.c,$(O)/tests/%,$(filter tests/%,$(HOSTILE_SOURCES)))
$(HOSTILE_UNITS): $(O)/tests/%: $(O)/obj/tests/%.o
$(filter-out $(HOSTILE_UNITS),$(HARNESSED)): $(O)/tests/%: $(OBJ)/tests/%.o
$(HARNESSED): $(HARNESS) $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(link) -lcmocka -o $@

# Fuzz targets. Without libFuzzer they have a main of their own that replays files; see tests/fuzz/replay.c.
FUZZ_NAMES      := $(call below,fuzz/fuzz_*.c)
FUZZ_FRAME      := $(patsubst %,$(OBJ)/tests/%.o,fuzz/importer $(JUDGE) $(RIVAL) mapper/partial)
REPLAY_PROGRAMS := $(patsubst %,$(O)/tests/%,$(FUZZ_NAMES))
FUZZ_PROGRAMS   := $(patsubst fuzz/%,$(O)/fuzz/%,$(FUZZ_NAMES))
$(REPLAY_PROGRAMS): $(O)/tests/%: $(OBJ)/tests/%.o $(FUZZ_FRAME) $(OBJ)/tests/fuzz/replay.o $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(link) -o $@

$(FUZZ_PROGRAMS): $(O)/fuzz/%: $(OBJ)/tests/fuzz/%.o $(FUZZ_FRAME) $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(filter-out -fsanitize=fuzzer-no-link%,$(LDFLAGS_ALL)) -fsanitize=address,undefined \
	    $(LIB_FUZZING_ENGINE) $(filter %.o,$^) $(LIB) $(LIBS) -o $@

.PRECIOUS: $(OBJ)/%.o

# ---- tests -------------------------------------------------------------------------------------------------------

# The tests that are rows of a table: SCRIPT:ROW. The longest tests start first, so that no processor idles at the end.
PROBLEM_TESTS := $(patsubst %,tests/mapper/run_problems.sh:%,$(shell sed -n 's/^\([a-z0-9_]*\)\t.*/\1/p' tests/mapper/problems.tsv))
CLI_TESTS     := $(patsubst tests/cli/%.cli,tests/cli/run_cli.sh:%,$(sort $(wildcard tests/cli/*.cli)))
PROOF_TESTS   := $(patsubst %.dfl,tests/stdlib/run_proofs.sh:%,$(sort $(notdir $(wildcard examples/*.dfl tests/stdlib/*.dfl))))
LONG_TESTS    := tests/diff/run_diff.sh tests/mapper/run_mapper.sh tests/cli/run_cli.sh:eval tests/golden/run_golden.sh $(PROBLEM_TESTS) \
                 $(patsubst %,tests/stdlib/run_proofs.sh:%,maestro_study llama3_16384 megatron gpt3_1024) tests/cli/run_cli.sh:map \
                 tests/examples/run_examples.sh tests/stdlib/run_library.sh tests/cli/run_cli.sh:beyond tests/mapper/run_first.sh \
                 tests/cli/run_cli.sh:diff tests/cli/run_cli.sh:certificate tests/cli/run_cli.sh:robust tests/mapper/run_growing.sh
ROW_SCRIPTS   := tests/mapper/run_problems.sh tests/cli/run_cli.sh tests/stdlib/run_proofs.sh
OTHER_TESTS   := $(CLI_TESTS) $(PROOF_TESTS) $(filter-out $(ROW_SCRIPTS),$(sort $(wildcard tests/*/run*.sh tests/*/*/run*.sh)))
SCRIPT_TESTS  := $(LONG_TESTS) $(filter-out $(LONG_TESTS),$(OTHER_TESTS))
TEST_PROGRAMS := $(PROGRAMS) $(UNIT_PROGRAMS) $(PROPERTY) $(REPLAY_PROGRAMS)

FOR_TESTS  = BUILD='$(BUILD)' OUT='$(O)' DFLC='$(PROGRAM)'
RUN_TESTS  = $(FOR_TESTS) VARIANT='$(VARIANT)' CC='$(CC)' bash tests/harness/run_tests

test:
	@sh tests/harness/packages install $(BUILD_PACKAGES) $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory test-run

test-run: all $(TEST_PROGRAMS)
	@$(RUN_TESTS) $(SCRIPT_TESTS) $(UNIT_PROGRAMS) $(REPLAY_PROGRAMS)

# Compiles all programs and runs none.
compile: all $(TEST_PROGRAMS) $(BENCH_PROGRAMS)

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
	@OUT='$(BUILD)/fuzz' FUZZ_SECONDS='$(FUZZ_SECONDS)' bash tests/fuzz/smoke.sh $(patsubst %,$(BUILD)/fuzz/%,$(FUZZ_NAMES))

fuzz-programs: $(FUZZ_PROGRAMS)

bench: all $(BENCH_PROGRAMS)
	@for b in $(BENCH_PROGRAMS); do $$b || exit 1; done
	@for b in $(sort $(wildcard tests/bench/*.sh)); do $(FOR_TESTS) bash $$b || exit 1; done

truth: all
	@$(FOR_TESTS) bash tests/truth/run_truth.sh all
	@$(FOR_TESTS) bash tests/truth/run_kernels.sh
	@$(FOR_TESTS) bash tests/truth/run_list.sh all

networks: all
	@$(FOR_TESTS) bash tests/networks/run_networks.sh all

prove: $(PROPERTY)
	@$(PROPERTY) $(or $(N),100000) $(or $(SEED),1)

schedule: $(O)/tests/unit/model/test_schedule
	@$< $(or $(N),3000) $(or $(SEED),1)
	@$< -f $(or $(N),3000) $(or $(SEED),1)

# Kinds of problems of the rival, see tests/mapper/rival.c.
RIVALS := -k -l -o -a -w -m -i -g -p -2 -r
optimal: $(patsubst %,$(O)/tests/mapper/%,chains exhaustive monotone rival relations)
	@$(O)/tests/mapper/chains $(or $(N),2000) $(or $(SEED),1)
	@$(O)/tests/mapper/exhaustive $(or $(N),10000) $(or $(SEED),1)
	@$(O)/tests/mapper/monotone $(or $(N),10000) $(or $(SEED),1)
	@for kind in $(filter-out -k -i -g -p -2 -r,$(RIVALS)); do echo "relations $$kind"; $(O)/tests/mapper/relations $$kind -E 20000 $(or $(N),1000) $(or $(SEED),1) || exit 1; done
	@for kind in $(RIVALS); do echo "rival $$kind"; $(O)/tests/mapper/rival $$kind -E 20000 $(or $(N),2000) $(or $(SEED),1) || exit 1; done
	@for kind in -a -w -m; do echo "rival -c $$kind"; $(O)/tests/mapper/rival -c 100000 $$kind -E 20000 $(or $(N),2000) $(or $(SEED),1) || exit 1; done

mutate: all $(PROPERTY) $(UNIT_PROGRAMS)
	@$(FOR_TESTS) MAKE='$(MAKE)' bash tests/property/mutate.sh

cover:
	@$(MAKE) --no-print-directory VARIANT=cover test-run
	@OUT='$(BUILD)/cover' bash tests/harness/coverage
