# What the Makefiles of all modules have in common; each names itself (MODULE) and its OBJS.

here       := $(patsubst %/modules/module.mk,%,$(abspath $(lastword $(MAKEFILE_LIST))))
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(here)/tde_column.control)
MODULE_big  = tde_column_$(MODULE)
include $(here)/src/compile.mk
PG_CPPFLAGS += -I$(here)/modules
include $(PGXS)

$(OBJS) $(OBJS:.o=.bc): $(here)/src/compile.mk $(wildcard $(here)/src/*/*.h $(here)/modules/$(MODULE)/*.h) $(here)/tde_column.control
