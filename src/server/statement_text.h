/*
 * statement_text.h - keeps secrets in statements from whom PostgreSQL hands their text to.
 */
#ifndef TDE_SERVER_STATEMENT_TEXT_H
#define TDE_SERVER_STATEMENT_TEXT_H

extern void tde_log_statement_init(void);

#endif							/* TDE_SERVER_STATEMENT_TEXT_H */
