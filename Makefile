# tde_column: column encryption for PostgreSQL.  'make help' lists the goals.

EXTENSION  = tde_column
# The sources' folder: a build may stand in another, by 'make -f SOURCES/Makefile' or with VPATH.
here       := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(here)/$(EXTENSION).control)

# These goals need no PostgreSQL, or install it where it is missing, so they must not depend on PGXS (which is part of it).
SELF_GOALS = dist deb rpm oci deps demo check check-long check-all check-core check-extensions check-drivers check-tools check-examples check-site site check-custody check-apps check-schemas check-cluster check-matrix check-sanitize check-mutate check-assumptions check-dist check-channels release-check fuzz manifest bench bench-crypto bench-sql help

ifneq (,$(filter $(SELF_GOALS),$(MAKECMDGOALS)))

ifneq (,$(filter-out $(SELF_GOALS),$(MAKECMDGOALS)))
$(error "$(filter-out $(SELF_GOALS),$(MAKECMDGOALS))" cannot be made together with "$(filter $(SELF_GOALS),$(MAKECMDGOALS))": call make twice)
endif

dist:
	git -C $(here) archive --format=zip --prefix=$(EXTENSION)-$(EXTVERSION)/ -o $(CURDIR)/$(EXTENSION)-$(EXTVERSION).zip HEAD
	$(here)/packaging/sbom >$(EXTENSION)-$(EXTVERSION).cdx.json

deb:
	@test/packages/deb

rpm:
	@test/packages/rpm

oci:
	@test/packages/oci

# Variables given to make (SCALE=4, T=regress, PG_CONFIG=...) are in the environment of these scripts.
deps:
	@test/deps

demo:
	@bench/demo.sh

check:
	@test/check

check-long:
	@T='long upgrade fuzz' test/check

check-all:
	@T=all test/check

check-drivers:
	@test/drivers/run $(DRIVERS)

check-tools:
	@test/tools/run $(TOOLS)

check-examples:
	@test/examples/run $(EXAMPLES)

site:
	@test/site/build

check-site:
	@test/site/run

check-custody:
	@test/custody/run $(PROVIDERS)

check-apps:
	@test/apps/run $(SUITES)

check-schemas:
	@test/apps/schemas/run $(SCHEMAS)

check-cluster:
	@test/cluster/run

check-matrix:
	@test/matrix/run

check-dist:
	@test/packages/dist

check-channels:
	@test/packages/formats

release-check:
	@test/release/run

check-core:
	@rc=0; for part in $(or $(CORE),columns guest expressions costs); do test/core/$$part || rc=1; done; exit $$rc

check-extensions:
	@test/core/extensions $(EXTENSIONS)

check-sanitize:
	@test/sanitize/run

check-mutate:
	@test/mutate/run mutations $(MUTATIONS)

check-assumptions:
	@test/mutate/run server $(ASSUMPTIONS)

fuzz:
	@test/fuzz/run

manifest:
	@test/manifest/run

bench:
	@bench/run all

bench-crypto:
	@bench/crypto.sh

bench-sql:
	@bench/sql.sh; missed=$$?; bench/queries.sh && exit $$missed

help:
	@echo 'make                     build the extension'
	@echo 'make install             install it into the PostgreSQL that pg_config belongs to'
	@echo 'make installcheck        tests of what is installed: as an ordinary user on a server of their own; with PGHOST, PGPORT or PGSERVICE as'
	@echo '                         superuser on that server, which has to have this library preloaded and its wallet open'
	@echo 'make dist                tde_column-VERSION.zip, for PGXN and packages, and what it consists of: tde_column-VERSION.cdx.json'
	@echo 'make deb                 as root: Debian'\''s packages of it, built, looked at and tried in bare Debians, into packages/; SUITES="bookworm": only'
	@echo '                         for this one'
	@echo 'make rpm                 as root: packages for Red Hat'\''s systems, with PGDG'\''s names, built and tried in a bare Debian, into packages/rpm'
	@echo 'make oci                 as root: the image that CloudNativePG mounts beside PostgreSQL 18, built and tried likewise, into packages/oci'
	@echo 'make clean               remove what was built'
	@echo
	@echo 'These install what they need, unless DEPS=no, and work in a temporary folder, on a private server:'
	@echo 'make deps                only that: what check and demo need'
	@echo 'make demo                what encryption costs and what the disk holds; SCALE=4: four times the work'
	@echo 'make check               all tests; T="lint unit regress pgtap tap core": only these parts;'
	@echo '                         REGRESS="guard", PGTAP="test/pgtap/x.sql", TAP="test/t/003*.pl": only these tests'
	@echo 'make check-long          the tests that take minutes: kill -9 at 250 points, pg_upgrade from PostgreSQL 15 to 17,'
	@echo '                         bench/run'\''s ends and reports, random queries by sqlsmith and on plain and encrypted twins, a server under FIPS,'
	@echo '                         other processors, a short make fuzz'
	@echo 'make check-all           both'
	@echo 'make check-core          PostgreSQL'\''s own regression scripts on encrypted columns beside plain ones (downloads the sources),'
	@echo '                         and unmodified beside a server without the extension; parse trees and instructions of plain statements;'
	@echo '                         CORE="columns guest expressions costs": only these parts'
	@echo 'make check-extensions    contrib modules and packaged extensions beside this one; EXTENSIONS="hstore postgis": only these'
	@echo 'make check-sanitize      unit, regress, pgtap and tap on a PostgreSQL with assertions (built from its sources, once), the extension'
	@echo '                         under the undefined-behaviour sanitizer; then all but tap under the address sanitizer'
	@echo 'make check-mutate        some 65 small wrong changes of the code, each of which a test has to find; MUTATIONS="crypto wallet": only these'
	@echo 'make check-assumptions   changes of PostgreSQL that make untrue what src/README.md says we assume of it: a test has to find each, without a'
	@echo '                         crash; builds it from its sources, as of version 15; ASSUMPTIONS="log.c": only these'
	@echo 'make check-dist          as root: what make dist makes, installed by pgxnclient in a bare Debian'
	@echo 'make check-channels      bill of materials, Dockerfile and workflow by the schemas and linters of others, from PyPI'
	@echo 'make release-check       all that must be true before a version is tagged, for hours; PAPERS=only: what a second shows'
	@echo 'make fuzz                libFuzzer on what reads bytes that others wrote; RUNS=10000000: for long'
	@echo 'make manifest            write test/manifest/objects-N.txt anew: all objects that the template makes under this PostgreSQL'
	@echo 'make check-drivers       drivers of Python, Java, JavaScript and Go, from their registries; DRIVERS="jdbc pgx": only these'
	@echo 'make check-tools         tools around a database, of Debian'\''s packages: wal2json, pglogical, pg_repack, orafce, ...; TOOLS="repack": only these'
	@echo 'make check-examples      examples/, by the commands of their pages; EXAMPLES="django gorm": only these'
	@echo 'make site                the documentation as a site, into site/; SITE=/path/to/folder: there'
	@echo 'make check-site          that, looked at by a browser: links, errors, what does not fit on a phone; SHOTS=/path/to/folder: pictures'
	@echo 'make check-custody       the passphrase by HSMs and key services, each down, slow, revoked and with another key; kill -9 at 200 points;'
	@echo '                         PROVIDERS="pkcs11 aws": only these; BAO=/path/to/bao: OpenBao or Vault itself'
	@echo 'make check-apps          the test suites of Django, SQLAlchemy and asyncpg on encrypted columns beside plain ones; SUITES="django": only this; "peewee rails": others'
	@echo 'make check-schemas       the schemas of Kea, PowerDNS, Roundcube and tt-rss: each column encrypted or named, each table written as before;'
	@echo '                         SCHEMAS="kea": only this; PAGILA and MINIFLUX name source trees of two more'
	@echo 'make check-cluster       Citus on three private servers, plain tables beside encrypted ones; CITUS=/path/to/its/source/tree,'
	@echo '                         unless it is installed; PARTS="keys nodes rotation types files twins": only these'
	@echo 'make check-matrix        as root: all of it on PostgreSQL 15 to 19, each in a Debian that has it, pg_upgrade between them, compilers and'
	@echo '                         processors; SERVERS="17 19" PARTS="regress pgtap": only these'
	@echo 'make bench               experiments of five studies, with reports and charts in bench/results; bench/run lists them'
	@echo 'make bench-crypto        ns per value of the crypto core beside bare OpenSSL'
	@echo 'make bench-sql           scans, COPY and queries of encrypted columns beside plain ones; ROWS=1000000 ROUNDS=15'
	@echo
	@echo 'PG_CONFIG=/path/to/pg_config chooses the PostgreSQL; KEEP=1 keeps the temporary folder.'

.PHONY: $(SELF_GOALS)

else

MODULE_big = $(EXTENSION)
OBJS += $(addprefix src/crypto/, cipher.o container.o container_mac.o gcm.o header.o mac.o polyval.o primitives.o quotations.o random.o \
    secret_calls.o selftest.o value.o)
OBJS += $(addprefix src/server/, command.o counters.o drawn_ahead.o error.o extension.o hidden.o log.o memory.o module.o permanent.o probe_counts.o \
    remains.o rights.o sensitive.o statement.o stored_tree.o subquery.o table_name.o)
OBJS += $(addprefix src/wallet/, backup.o change.o file.o given.o open.o server.o wallet.o)
OBJS += $(addprefix src/keys/, cache.o keyed_hash.o limits.o missing.o modifier_words.o modifiers.o names.o required.o \
    table.o table_edit.o table_write.o typmod.o unwrapped.o wrap.o)
OBJS += $(addprefix src/type/, access.o base_functions.o call.o cast.o ciphertext_form.o core.o datum.o datum_encrypt.o \
    datum_header.o declared.o inside.o lexeme_statistics.o masks.o node_form.o opened.o plain_bytes.o plaintext_cache.o statistics.o type.o)
OBJS += $(addprefix src/operators/, aggregates.o aggregation.o arithmetic.o arrays.o blind.o blind_class.o compare.o computed.o \
    computed_call.o computed_choice.o computed_form.o computed_result.o hash.o index_conditions.o indexed_forms.o indexed_order.o indexed_tables.o \
    opclass.o plain_index.o prepared.o sort.o sort_values.o string.o summaries.o)
OBJS += $(addprefix src/distributed/, distribution.o)
OBJS += $(addprefix src/client/, catalog.o catalog_queries.o catalog_trees.o check_results.o held_cursors.o key_errors.o \
    language_rows.o languages.o operand_results.o output_plugin.o params.o plain_form.o postponed.o probes.o result.o result_query.o \
    result_receiver.o routines.o rows.o statements.o)
OBJS += $(addprefix src/ddl/, added_columns.o alter_table.o container_statistics.o copied_database.o declare.o declare_trigger.o \
    declared_type.o explain_error.o foreign_keys.o identity.o in_clear.o in_clear_columns.o index_order.o index_salt.o \
    kept_encrypted.o new_expression.o plaintext_alter.o plaintext_guard.o sql_names.o stored_spec.o taken_names.o text_search.o \
    typmod_functions.o widened_calls.o widened_stored.o)
OBJS += $(addprefix src/maintenance/, closed_wallet.o databases.o hash_key.o index_keys.o owner.o purge.o usage.o usage_catalogs.o usage_drop.o \
    usage_scan.o)
OBJS += $(addprefix src/functions/, analyzed.o execution.o hooks.o keys.o modules.o secrets.o settings.o views.o wallet_functions.o)
# The install script is put together from the parts in src/sql/, in the order of their numbers.
SCRIPT     = $(EXTENSION)--$(EXTVERSION).sql
PARTS      = $(sort $(wildcard $(here)/src/sql/*.sql))
# What earlier versions installed stays as it was; the update to this version is put together, too.
UPDATES    = $(patsubst $(here)/%,%,$(wildcard $(here)/src/sql/updates/*))
UPDATE     = $(filter %--$(EXTVERSION).sql,$(UPDATES))
DATA       = $(filter-out $(UPDATE),$(UPDATES))
DATA_built = $(SCRIPT) $(notdir $(UPDATE))

# 'install' comes first: it creates the extension in the database that all of them use.  Where PGHOST, PGPORT or PGSERVICE name a server,
# they run there, with its wallet, which has to be open and stays so; else on a server of their own, together with what closes a wallet.
REGRESS     = install types operators roles declare guard large modifiers quickstart subscript transparent
REGRESS_OPTS += --encoding=UTF8 --no-locale
ifeq (,$(PGHOST)$(PGHOSTADDR)$(PGPORT)$(PGSERVICE))
REGRESS    += closed
REGRESS_PREP = regress.conf
REGRESS_OPTS += --temp-instance=tmp_check --temp-config=regress.conf
endif
EXTRA_CLEAN = results regression.diffs regression.out regress.conf tmp_check

include $(here)/src/compile.mk
include $(PGXS)

# What this version has been tried on, from its tests to what src/README.md says that it assumes.
TRIED = 15 16 17 18 19
ifeq (,$(filter $(TRIED),$(MAJORVERSION))$(TDE_ANY_POSTGRESQL)$(filter clean,$(MAKECMDGOALS)))
$(error this version of $(EXTENSION) has been tried on PostgreSQL $(firstword $(TRIED)) to $(lastword $(TRIED)), and this is PostgreSQL $(MAJORVERSION): "make TDE_ANY_POSTGRESQL=1" builds it all the same, for a trial)
endif

# The names of output plugins by which logical decoding loads this library: src/client/output_plugin.c.
PLUGINS = pgoutput test_decoding wal2json decoderbufs
plugin_folder = '$(DESTDIR)$(pkglibdir)/$(EXTENSION)'

install: install-plugins
install-plugins:
	$(MKDIR_P) $(plugin_folder)
	for plugin in $(PLUGINS); do ln -sf ../$(EXTENSION)$(DLSUFFIX) $(plugin_folder)/$$plugin$(DLSUFFIX); done

uninstall: uninstall-plugins
uninstall-plugins:
	rm -rf $(plugin_folder)
.PHONY: install-plugins uninstall-plugins

# The passphrase from an HSM or key service: clients/kms, beside the library, and its command where the server's own are.
kms = $(EXTENSION)/kms
install: install-kms
install-kms: install-plugins
	$(MKDIR_P) '$(DESTDIR)$(pkglibdir)/$(kms)/custody' '$(DESTDIR)$(pkglibdir)/$(kms)/providers' '$(DESTDIR)$(bindir)'
	$(INSTALL_SCRIPT) $(here)/clients/kms/tde-passphrase '$(DESTDIR)$(pkglibdir)/$(kms)/'
	for part in custody providers; do $(INSTALL_DATA) $(here)/clients/kms/$$part/*.py '$(DESTDIR)$(pkglibdir)/$(kms)/'$$part/; done
	ln -sf '$(pkglibdir)/$(kms)/tde-passphrase' '$(DESTDIR)$(bindir)/tde-passphrase'

uninstall: uninstall-kms
uninstall-kms: uninstall-plugins
	rm -f '$(DESTDIR)$(bindir)/tde-passphrase'
.PHONY: install-kms uninstall-kms

$(SCRIPT): $(PARTS)
	cat $^ >$@

# PostgreSQL would put the schema in that the extension had before the update.
$(notdir $(UPDATE)): $(here)/$(UPDATE) $(PARTS) $(here)/src/sql/update.awk
	awk -v version=$(EXTVERSION) -f $(here)/src/sql/update.awk $(PARTS) | sed '/^-- @parts@$$/r /dev/stdin' $< | sed 's/@extschema@/pg_catalog/g' >$@

# Libraries beside this one, for what few need: modules/NAME makes tde_column_NAME.  TDE_MODULES='' builds and installs none.
TDE_MODULES ?= audit catalog ceremony citus conversion decryptions import masks transfer verify
in_module   = mkdir -p modules/$* && $(MAKE) -C modules/$* -f $(abspath $(here))/modules/$*/Makefile $(if $(filter-out .,$(here)),VPATH=$(abspath $(here))/modules/$*)

all: $(TDE_MODULES:%=module-%)
install: $(TDE_MODULES:%=install-module-%)
uninstall: $(TDE_MODULES:%=uninstall-module-%)
clean: $(TDE_MODULES:%=clean-module-%)
$(TDE_MODULES:%=module-%): module-%: built_for
	+@$(in_module) all
$(TDE_MODULES:%=install-module-%): install-module-%: module-%
	+@$(in_module) install
$(TDE_MODULES:%=uninstall-module-%): uninstall-module-%:
	+@$(in_module) uninstall
$(TDE_MODULES:%=clean-module-%): clean-module-%:
	+@$(in_module) clean
.PHONY: $(foreach goal,module install-module uninstall-module clean-module,$(TDE_MODULES:%=$(goal)-%))

regress.conf: $(here)/test/regress.conf
	@[ "$$(id -u)" != 0 ] || { echo 'make: PostgreSQL does not run as root: call this as an ordinary user, or name a server by PGHOST, PGPORT or PGSERVICE' >&2; exit 1; }
	sed 's#@folder@#$(CURDIR)/tmp_check#' $< >$@

# Objects are made anew when a header has changed, since Debian's PGXS does not track these, and for another PostgreSQL.
BUILT_FOR := $(shell $(PG_CONFIG) --version)
ifneq ($(BUILT_FOR),$(shell cat built_for 2>/dev/null))
.PHONY: built_for
endif
built_for:
	@mkdir -p $(sort $(dir $(OBJS)))
	@echo '$(BUILT_FOR)' >$@
EXTRA_CLEAN += built_for
$(OBJS) $(OBJS:.o=.bc): built_for $(wildcard $(here)/src/*/*.h)

endif
