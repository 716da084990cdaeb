/*
 * output_plugin.h - logical decoding tells the base types, where clients are shown them in the catalogs.
 */
#ifndef TDE_CLIENT_OUTPUT_PLUGIN_H
#define TDE_CLIENT_OUTPUT_PLUGIN_H

/* When the library is preloaded: PostgreSQL then finds output plugins through it. */
extern void tde_output_plugin_init(void);

#endif							/* TDE_CLIENT_OUTPUT_PLUGIN_H */
