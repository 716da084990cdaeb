/*
 * rights.h - roles and their rights as they are now.
 */
#ifndef TDE_SERVER_RIGHTS_H
#define TDE_SERVER_RIGHTS_H

/*
 * What get_role_oid(), GetUserNameFromId(), superuser_arg(), has_privs_of_role() and TDE_MAY_EXECUTE() say, but also while logical decoding
 * has the catalogs as they were at the change that it decodes: who may read that is decided when it is read.  No role: InvalidOid, or NULL.
 */
extern Oid	tde_role_now(const char *name);
extern const char *tde_role_name_now(Oid role);
extern bool tde_superuser_now(Oid user);
extern bool tde_has_privs_now(Oid user, Oid role);
extern bool tde_may_execute_now(Oid function, Oid user);

#endif							/* TDE_SERVER_RIGHTS_H */
