CALL tde_encrypt_column('employee', 'salary');
