/*
 * xml_values.h - XMLELEMENT and XMLFOREST print encrypted values as they print plain ones.
 */
#ifndef TDE_CLIENT_XML_VALUES_H
#define TDE_CLIENT_XML_VALUES_H

#include "nodes/parsenodes.h"

/* When a statement has been analyzed, from this text: the values that it makes XML of get their base types, in place. */
extern void tde_xml_values(Query *query, const char *text);

#endif							/* TDE_CLIENT_XML_VALUES_H */
