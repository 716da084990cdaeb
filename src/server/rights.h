/*
 * rights.h - roles and their rights as they are now.
 */
#ifndef TDE_SERVER_RIGHTS_H
#define TDE_SERVER_RIGHTS_H

/*
 * Return what get_role_oid(), GetUserNameFromId(), superuser_arg(), has_privs_of_role() and TDE_MAY_EXECUTE() say.  They do so also while logical
 * decoding has the catalogs as they were at the change that it decodes: who may read that is decided when it is read.  If there is no such role they
 * return InvalidOid, or NULL.
 */
extern PGDLLEXPORT Oid tde_rights_role(const char *name);
extern const char *tde_rights_role_name(Oid role);
extern bool tde_rights_superuser(Oid user);
extern PGDLLEXPORT bool tde_rights_has_privs(Oid user, Oid role);
extern bool tde_rights_may_execute(Oid function, Oid user);

#endif							/* TDE_SERVER_RIGHTS_H */
