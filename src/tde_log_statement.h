/*
 * tde_log_statement.h - keeps secrets in statements from whom PostgreSQL hands their text to.
 *
 * layer: 3
 */
#ifndef TDE_LOG_STATEMENT_H
#define TDE_LOG_STATEMENT_H

extern void tde_log_statement_init(void);

#endif							/* TDE_LOG_STATEMENT_H */
