/* tde_column 0.1.0: encrypted column types for PostgreSQL */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION tde_column" to load this file. \quit

