# How C is compiled, here and in modules/: to be included before PGXS.  here: the folder of the sources; EXTVERSION: its version.

ifeq (,$(EXTVERSION))
$(error $(here)/tde_column.control names no default_version)
endif

PG_CPPFLAGS = -I$(here)/src -DTDE_VERSION='"$(EXTVERSION)"'
# -Wextra without what PostgreSQL's own headers (PG_TRY) and calling conventions (fcinfo, callbacks) trip over.
PG_CFLAGS   = -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers -Wno-clobbered
SHLIB_LINK += -lcrypto

PG_CONFIG ?= pg_config
PGXS      := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifeq (,$(wildcard $(PGXS)))
$(error "$(PG_CONFIG) --pgxs" names no PGXS makefile: install postgresql-server-dev-N (Debian, N is PostgreSQL's major version) or postgresql-server-devel (RHEL), or say make PG_CONFIG=/path/to/pg_config)
endif

# The headers of 15 declare callbacks with empty parentheses, which for C23, the default from gcc 15 on, are callbacks without arguments.
ifneq (,$(filter 15%,$(word 2,$(shell $(PG_CONFIG) --version 2>/dev/null))))
PG_CFLAGS  += -std=gnu17
endif

# A value passes through the functions of many small files; optimized together they take a quarter less time.  gcc alone:
# clang would need a linker that knows its object files.  It does not know all options and attributes of the gcc that has built PostgreSQL, either.
compiler = $(if $(filter command,$(origin CC)),$(CC),$(shell $(PG_CONFIG) --cc))
ifeq (1,$(shell $(compiler) -v 2>&1 | grep -c '^gcc version'))
TDE_OPTIMIZE ?= -O3 -flto=auto -fno-plt -fno-semantic-interposition
else ifeq (1,$(shell $(compiler) -v 2>&1 | grep -c 'clang version'))
PG_CFLAGS  += -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-ignored-attributes
endif

PG_CFLAGS  += $(TDE_OPTIMIZE)
