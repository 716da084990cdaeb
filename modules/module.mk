# What the Makefiles of all modules have in common; each names itself (MODULE) and its OBJS.

here       := $(patsubst %/modules/module.mk,%,$(abspath $(lastword $(MAKEFILE_LIST))))
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(here)/tde_column.control)
MODULE_big  = tde_column_$(MODULE)
include $(here)/src/compile.mk
PG_CPPFLAGS += -I$(here)/modules
include $(PGXS)
# What it calls of the core is found when it is loaded: macOS' linker wants to be told so.
ifeq (darwin,$(PORTNAME))
SHLIB_LINK += -Wl,-undefined,dynamic_lookup
endif

# ../../built_for: for another PostgreSQL they are made anew.
$(OBJS) $(OBJS:.o=.bc): $(wildcard ../../built_for) $(here)/src/compile.mk $(wildcard $(here)/src/*/*.h $(here)/modules/$(MODULE)/*.h) $(here)/tde_column.control
