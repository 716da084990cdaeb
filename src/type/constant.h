/*
 * constant.h - an operand that is not encrypted, made of the type in which it meets the encrypted one.
 */
#ifndef TDE_TYPE_CONSTANT_H
#define TDE_TYPE_CONSTANT_H

#include "type/type.h"

/*
 * Convert an operand that is not encrypted.  A constant is converted at the first call, as the planner would have done if it
 * knew of the conversion, and kept in call->more, which is nobody else's then; *kept: it is, so nobody may free it.
 */
extern Datum tde_constant_convert(FunctionCallInfo fcinfo, TdeCall *call, int operand, FmgrInfo *convert, bool *kept);

#endif							/* TDE_TYPE_CONSTANT_H */
