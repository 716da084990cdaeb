/*
 * output_plugin.h - logical decoding tells the base types, where clients are shown them in the catalogs.
 */
#ifndef TDE_CLIENT_OUTPUT_PLUGIN_H
#define TDE_CLIENT_OUTPUT_PLUGIN_H

/*
 * From _PG_init, when the library is preloaded: puts the folder with the names of output plugins in front of dynamic_library_path, so that PostgreSQL
 * finds output plugins through this library.  A WARNING says so where the path is set to something else or the folder is missing.
 */
extern void tde_output_plugin_init(void);

#endif							/* TDE_CLIENT_OUTPUT_PLUGIN_H */
