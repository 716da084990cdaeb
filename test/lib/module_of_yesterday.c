/*
 * module_of_yesterday.c - a module of another version than the core's, which is given by -DTDE_VERSION.
 */
#include "postgres.h"

#include "server/compat.h"
#include "server/module.h"

TDE_MODULE("transfer", NULL, NULL);
