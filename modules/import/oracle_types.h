/*
 * oracle_types.h - types of Oracle's columns, and their ENCRYPT clauses, as ours.
 */
#ifndef TDE_IMPORT_ORACLE_TYPES_H
#define TDE_IMPORT_ORACLE_TYPES_H

#include "import/oracle_lexer.h"

typedef struct TdeOracleType
{
	const char *plain;			/* NULL: none was named */
	const char *encrypted;		/* NULL: there is none */
	const char *modifiers;		/* "15,2", or "" */
} TdeOracleType;

/* Is the name of a type next? */
extern bool tde_oracle_type_is_next(const TdeOracleLexer *lexer);

/* The type that is next, with its modifiers. */
extern TdeOracleType tde_oracle_type(TdeOracleLexer *lexer);

/* What is behind ENCRYPT, as the modifiers of an encrypted type: "aes192,nosalt", or "". */
extern char *tde_oracle_type_spec(TdeOracleLexer *lexer);

/* As SQL has it here; spec: NULL if it is not encrypted. */
extern char *tde_oracle_type_text(const TdeOracleLexer *lexer, const TdeOracleType *type, const char *spec);

#endif							/* TDE_IMPORT_ORACLE_TYPES_H */
