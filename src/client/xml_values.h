/*
 * xml_values.h - XMLELEMENT and XMLFOREST print encrypted values as they print plain ones.
 */
#ifndef TDE_CLIENT_XML_VALUES_H
#define TDE_CLIENT_XML_VALUES_H

#include "nodes/primnodes.h"

/* When a statement has been analyzed: what this part of it makes XML of gets its base types, in place. */
extern void tde_xml_values(XmlExpr *xml);

#endif							/* TDE_CLIENT_XML_VALUES_H */
