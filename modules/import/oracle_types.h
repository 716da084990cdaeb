/*
 * oracle_types.h - types of Oracle's columns, and their ENCRYPT clauses, as ours.
 */
#ifndef TDE_IMPORT_ORACLE_TYPES_H
#define TDE_IMPORT_ORACLE_TYPES_H

#include "import/oracle_lexer.h"

/* A type of Oracle's, as ours. */
typedef struct TdeOracleType
{
	const char *plain;			/* NULL: none was named */
	const char *encrypted;		/* NULL: there is none */
	const char *modifiers;		/* "15,2", or "" */
} TdeOracleType;

/* Returns true if the name of a type is next. */
extern bool tde_oracle_type_is_next(const TdeOracleLexer *lexer);

/* Returns the type that is next, with its modifiers.  Throws if it is none that is known. */
extern TdeOracleType tde_oracle_type(TdeOracleLexer *lexer);

/*
 * Returns what is behind ENCRYPT, as the modifiers of an encrypted type: "aes192,nosalt", or ""; palloc'd.  A password is passed over, and a NOTICE
 * tells so.
 */
extern char *tde_oracle_type_spec(TdeOracleLexer *lexer);

/* Returns the type as SQL has it here, palloc'd; spec: NULL if it is not encrypted.  Throws if there is no encrypted one. */
extern char *tde_oracle_type_text(const TdeOracleLexer *lexer, const TdeOracleType *type, const char *spec);

#endif							/* TDE_IMPORT_ORACLE_TYPES_H */
