--
-- PostgreSQL database dump
--


-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: tde_column; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS tde_column WITH SCHEMA public;


--
-- Name: EXTENSION tde_column; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION tde_column IS 'transparent encryption of columns: encrypted data types, a wallet and data keys';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: v_bool; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_bool (
    c1 public.encrypted_bool(aes128,salt,nomac),
    c2 public.encrypted_bool(aes128,salt,mac),
    c3 public.encrypted_bool(aes128,salt,sha256),
    c4 public.encrypted_bool(aes128,salt,nomac),
    c5 public.encrypted_bool(aes128,cbc,salt,nomac),
    c6 public.encrypted_bool(aes128,salt,mac),
    c7 public.encrypted_bool(aes128,cbc,salt,mac),
    c8 public.encrypted_bool(aes128,salt,sha256),
    c9 public.encrypted_bool(aes128,cbc,salt,sha256),
    c10 public.encrypted_bool(aes128,nosalt,nomac),
    c11 public.encrypted_bool(aes128,nosalt,mac),
    c12 public.encrypted_bool(aes128,nosalt,sha256),
    c13 public.encrypted_bool(aes128,nosalt,nomac),
    c14 public.encrypted_bool(aes128,nosalt,mac),
    c15 public.encrypted_bool(aes128,cbc,nosalt,mac),
    c16 public.encrypted_bool(aes128,nosalt,sha256),
    c17 public.encrypted_bool(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_bool(aes192,salt,nomac),
    c19 public.encrypted_bool(aes192,salt,mac),
    c20 public.encrypted_bool(aes192,salt,sha256),
    c21 public.encrypted_bool(aes192,salt,nomac),
    c22 public.encrypted_bool(aes192,cbc,salt,nomac),
    c23 public.encrypted_bool(aes192,salt,mac),
    c24 public.encrypted_bool(aes192,cbc,salt,mac),
    c25 public.encrypted_bool(aes192,salt,sha256),
    c26 public.encrypted_bool(aes192,cbc,salt,sha256),
    c27 public.encrypted_bool(aes192,nosalt,nomac),
    c28 public.encrypted_bool(aes192,nosalt,mac),
    c29 public.encrypted_bool(aes192,nosalt,sha256),
    c30 public.encrypted_bool(aes192,nosalt,nomac),
    c31 public.encrypted_bool(aes192,nosalt,mac),
    c32 public.encrypted_bool(aes192,cbc,nosalt,mac),
    c33 public.encrypted_bool(aes192,nosalt,sha256),
    c34 public.encrypted_bool(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_bool(aes256,salt,nomac),
    c36 public.encrypted_bool(aes256,salt,mac),
    c37 public.encrypted_bool(aes256,salt,sha256),
    c38 public.encrypted_bool(aes256,salt,nomac),
    c39 public.encrypted_bool(aes256,cbc,salt,nomac),
    c40 public.encrypted_bool(aes256,salt,mac),
    c41 public.encrypted_bool(aes256,cbc,salt,mac),
    c42 public.encrypted_bool(aes256,salt,sha256),
    c43 public.encrypted_bool(aes256,cbc,salt,sha256),
    c44 public.encrypted_bool(aes256,nosalt,nomac),
    c45 public.encrypted_bool(aes256,nosalt,mac),
    c46 public.encrypted_bool(aes256,nosalt,sha256),
    c47 public.encrypted_bool(aes256,nosalt,nomac),
    c48 public.encrypted_bool(aes256,nosalt,mac),
    c49 public.encrypted_bool(aes256,cbc,nosalt,mac),
    c50 public.encrypted_bool(aes256,nosalt,sha256),
    c51 public.encrypted_bool(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_bool(aes256,salt,mac,'key=named')
);


--
-- Name: v_bpchar; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_bpchar (
    c1 public.encrypted_bpchar(aes128,salt,nomac),
    c2 public.encrypted_bpchar(aes128,salt,mac),
    c3 public.encrypted_bpchar(aes128,salt,sha256),
    c4 public.encrypted_bpchar(aes128,salt,nomac),
    c5 public.encrypted_bpchar(aes128,cbc,salt,nomac),
    c6 public.encrypted_bpchar(aes128,salt,mac),
    c7 public.encrypted_bpchar(aes128,cbc,salt,mac),
    c8 public.encrypted_bpchar(aes128,salt,sha256),
    c9 public.encrypted_bpchar(aes128,cbc,salt,sha256),
    c10 public.encrypted_bpchar(aes128,nosalt,nomac),
    c11 public.encrypted_bpchar(aes128,nosalt,mac),
    c12 public.encrypted_bpchar(aes128,nosalt,sha256),
    c13 public.encrypted_bpchar(aes128,nosalt,nomac),
    c14 public.encrypted_bpchar(aes128,nosalt,mac),
    c15 public.encrypted_bpchar(aes128,cbc,nosalt,mac),
    c16 public.encrypted_bpchar(aes128,nosalt,sha256),
    c17 public.encrypted_bpchar(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_bpchar(aes192,salt,nomac),
    c19 public.encrypted_bpchar(aes192,salt,mac),
    c20 public.encrypted_bpchar(aes192,salt,sha256),
    c21 public.encrypted_bpchar(aes192,salt,nomac),
    c22 public.encrypted_bpchar(aes192,cbc,salt,nomac),
    c23 public.encrypted_bpchar(aes192,salt,mac),
    c24 public.encrypted_bpchar(aes192,cbc,salt,mac),
    c25 public.encrypted_bpchar(aes192,salt,sha256),
    c26 public.encrypted_bpchar(aes192,cbc,salt,sha256),
    c27 public.encrypted_bpchar(aes192,nosalt,nomac),
    c28 public.encrypted_bpchar(aes192,nosalt,mac),
    c29 public.encrypted_bpchar(aes192,nosalt,sha256),
    c30 public.encrypted_bpchar(aes192,nosalt,nomac),
    c31 public.encrypted_bpchar(aes192,nosalt,mac),
    c32 public.encrypted_bpchar(aes192,cbc,nosalt,mac),
    c33 public.encrypted_bpchar(aes192,nosalt,sha256),
    c34 public.encrypted_bpchar(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_bpchar(aes256,salt,nomac),
    c36 public.encrypted_bpchar(aes256,salt,mac),
    c37 public.encrypted_bpchar(aes256,salt,sha256),
    c38 public.encrypted_bpchar(aes256,salt,nomac),
    c39 public.encrypted_bpchar(aes256,cbc,salt,nomac),
    c40 public.encrypted_bpchar(aes256,salt,mac),
    c41 public.encrypted_bpchar(aes256,cbc,salt,mac),
    c42 public.encrypted_bpchar(aes256,salt,sha256),
    c43 public.encrypted_bpchar(aes256,cbc,salt,sha256),
    c44 public.encrypted_bpchar(aes256,nosalt,nomac),
    c45 public.encrypted_bpchar(aes256,nosalt,mac),
    c46 public.encrypted_bpchar(aes256,nosalt,sha256),
    c47 public.encrypted_bpchar(aes256,nosalt,nomac),
    c48 public.encrypted_bpchar(aes256,nosalt,mac),
    c49 public.encrypted_bpchar(aes256,cbc,nosalt,mac),
    c50 public.encrypted_bpchar(aes256,nosalt,sha256),
    c51 public.encrypted_bpchar(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_bpchar(aes256,salt,mac,'key=named')
);


--
-- Name: v_bytea; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_bytea (
    c1 public.encrypted_bytea(aes128,salt,nomac),
    c2 public.encrypted_bytea(aes128,salt,mac),
    c3 public.encrypted_bytea(aes128,salt,sha256),
    c4 public.encrypted_bytea(aes128,salt,nomac),
    c5 public.encrypted_bytea(aes128,cbc,salt,nomac),
    c6 public.encrypted_bytea(aes128,salt,mac),
    c7 public.encrypted_bytea(aes128,cbc,salt,mac),
    c8 public.encrypted_bytea(aes128,salt,sha256),
    c9 public.encrypted_bytea(aes128,cbc,salt,sha256),
    c10 public.encrypted_bytea(aes128,nosalt,nomac),
    c11 public.encrypted_bytea(aes128,nosalt,mac),
    c12 public.encrypted_bytea(aes128,nosalt,sha256),
    c13 public.encrypted_bytea(aes128,nosalt,nomac),
    c14 public.encrypted_bytea(aes128,nosalt,mac),
    c15 public.encrypted_bytea(aes128,cbc,nosalt,mac),
    c16 public.encrypted_bytea(aes128,nosalt,sha256),
    c17 public.encrypted_bytea(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_bytea(aes192,salt,nomac),
    c19 public.encrypted_bytea(aes192,salt,mac),
    c20 public.encrypted_bytea(aes192,salt,sha256),
    c21 public.encrypted_bytea(aes192,salt,nomac),
    c22 public.encrypted_bytea(aes192,cbc,salt,nomac),
    c23 public.encrypted_bytea(aes192,salt,mac),
    c24 public.encrypted_bytea(aes192,cbc,salt,mac),
    c25 public.encrypted_bytea(aes192,salt,sha256),
    c26 public.encrypted_bytea(aes192,cbc,salt,sha256),
    c27 public.encrypted_bytea(aes192,nosalt,nomac),
    c28 public.encrypted_bytea(aes192,nosalt,mac),
    c29 public.encrypted_bytea(aes192,nosalt,sha256),
    c30 public.encrypted_bytea(aes192,nosalt,nomac),
    c31 public.encrypted_bytea(aes192,nosalt,mac),
    c32 public.encrypted_bytea(aes192,cbc,nosalt,mac),
    c33 public.encrypted_bytea(aes192,nosalt,sha256),
    c34 public.encrypted_bytea(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_bytea(aes256,salt,nomac),
    c36 public.encrypted_bytea(aes256,salt,mac),
    c37 public.encrypted_bytea(aes256,salt,sha256),
    c38 public.encrypted_bytea(aes256,salt,nomac),
    c39 public.encrypted_bytea(aes256,cbc,salt,nomac),
    c40 public.encrypted_bytea(aes256,salt,mac),
    c41 public.encrypted_bytea(aes256,cbc,salt,mac),
    c42 public.encrypted_bytea(aes256,salt,sha256),
    c43 public.encrypted_bytea(aes256,cbc,salt,sha256),
    c44 public.encrypted_bytea(aes256,nosalt,nomac),
    c45 public.encrypted_bytea(aes256,nosalt,mac),
    c46 public.encrypted_bytea(aes256,nosalt,sha256),
    c47 public.encrypted_bytea(aes256,nosalt,nomac),
    c48 public.encrypted_bytea(aes256,nosalt,mac),
    c49 public.encrypted_bytea(aes256,cbc,nosalt,mac),
    c50 public.encrypted_bytea(aes256,nosalt,sha256),
    c51 public.encrypted_bytea(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_bytea(aes256,salt,mac,'key=named')
);


--
-- Name: v_date; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_date (
    c1 public.encrypted_date(aes128,salt,nomac),
    c2 public.encrypted_date(aes128,salt,mac),
    c3 public.encrypted_date(aes128,salt,sha256),
    c4 public.encrypted_date(aes128,salt,nomac),
    c5 public.encrypted_date(aes128,cbc,salt,nomac),
    c6 public.encrypted_date(aes128,salt,mac),
    c7 public.encrypted_date(aes128,cbc,salt,mac),
    c8 public.encrypted_date(aes128,salt,sha256),
    c9 public.encrypted_date(aes128,cbc,salt,sha256),
    c10 public.encrypted_date(aes128,nosalt,nomac),
    c11 public.encrypted_date(aes128,nosalt,mac),
    c12 public.encrypted_date(aes128,nosalt,sha256),
    c13 public.encrypted_date(aes128,nosalt,nomac),
    c14 public.encrypted_date(aes128,nosalt,mac),
    c15 public.encrypted_date(aes128,cbc,nosalt,mac),
    c16 public.encrypted_date(aes128,nosalt,sha256),
    c17 public.encrypted_date(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_date(aes192,salt,nomac),
    c19 public.encrypted_date(aes192,salt,mac),
    c20 public.encrypted_date(aes192,salt,sha256),
    c21 public.encrypted_date(aes192,salt,nomac),
    c22 public.encrypted_date(aes192,cbc,salt,nomac),
    c23 public.encrypted_date(aes192,salt,mac),
    c24 public.encrypted_date(aes192,cbc,salt,mac),
    c25 public.encrypted_date(aes192,salt,sha256),
    c26 public.encrypted_date(aes192,cbc,salt,sha256),
    c27 public.encrypted_date(aes192,nosalt,nomac),
    c28 public.encrypted_date(aes192,nosalt,mac),
    c29 public.encrypted_date(aes192,nosalt,sha256),
    c30 public.encrypted_date(aes192,nosalt,nomac),
    c31 public.encrypted_date(aes192,nosalt,mac),
    c32 public.encrypted_date(aes192,cbc,nosalt,mac),
    c33 public.encrypted_date(aes192,nosalt,sha256),
    c34 public.encrypted_date(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_date(aes256,salt,nomac),
    c36 public.encrypted_date(aes256,salt,mac),
    c37 public.encrypted_date(aes256,salt,sha256),
    c38 public.encrypted_date(aes256,salt,nomac),
    c39 public.encrypted_date(aes256,cbc,salt,nomac),
    c40 public.encrypted_date(aes256,salt,mac),
    c41 public.encrypted_date(aes256,cbc,salt,mac),
    c42 public.encrypted_date(aes256,salt,sha256),
    c43 public.encrypted_date(aes256,cbc,salt,sha256),
    c44 public.encrypted_date(aes256,nosalt,nomac),
    c45 public.encrypted_date(aes256,nosalt,mac),
    c46 public.encrypted_date(aes256,nosalt,sha256),
    c47 public.encrypted_date(aes256,nosalt,nomac),
    c48 public.encrypted_date(aes256,nosalt,mac),
    c49 public.encrypted_date(aes256,cbc,nosalt,mac),
    c50 public.encrypted_date(aes256,nosalt,sha256),
    c51 public.encrypted_date(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_date(aes256,salt,mac,'key=named')
);


--
-- Name: v_float4; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_float4 (
    c1 public.encrypted_float4(aes128,salt,nomac),
    c2 public.encrypted_float4(aes128,salt,mac),
    c3 public.encrypted_float4(aes128,salt,sha256),
    c4 public.encrypted_float4(aes128,salt,nomac),
    c5 public.encrypted_float4(aes128,cbc,salt,nomac),
    c6 public.encrypted_float4(aes128,salt,mac),
    c7 public.encrypted_float4(aes128,cbc,salt,mac),
    c8 public.encrypted_float4(aes128,salt,sha256),
    c9 public.encrypted_float4(aes128,cbc,salt,sha256),
    c10 public.encrypted_float4(aes128,nosalt,nomac),
    c11 public.encrypted_float4(aes128,nosalt,mac),
    c12 public.encrypted_float4(aes128,nosalt,sha256),
    c13 public.encrypted_float4(aes128,nosalt,nomac),
    c14 public.encrypted_float4(aes128,nosalt,mac),
    c15 public.encrypted_float4(aes128,cbc,nosalt,mac),
    c16 public.encrypted_float4(aes128,nosalt,sha256),
    c17 public.encrypted_float4(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_float4(aes192,salt,nomac),
    c19 public.encrypted_float4(aes192,salt,mac),
    c20 public.encrypted_float4(aes192,salt,sha256),
    c21 public.encrypted_float4(aes192,salt,nomac),
    c22 public.encrypted_float4(aes192,cbc,salt,nomac),
    c23 public.encrypted_float4(aes192,salt,mac),
    c24 public.encrypted_float4(aes192,cbc,salt,mac),
    c25 public.encrypted_float4(aes192,salt,sha256),
    c26 public.encrypted_float4(aes192,cbc,salt,sha256),
    c27 public.encrypted_float4(aes192,nosalt,nomac),
    c28 public.encrypted_float4(aes192,nosalt,mac),
    c29 public.encrypted_float4(aes192,nosalt,sha256),
    c30 public.encrypted_float4(aes192,nosalt,nomac),
    c31 public.encrypted_float4(aes192,nosalt,mac),
    c32 public.encrypted_float4(aes192,cbc,nosalt,mac),
    c33 public.encrypted_float4(aes192,nosalt,sha256),
    c34 public.encrypted_float4(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_float4(aes256,salt,nomac),
    c36 public.encrypted_float4(aes256,salt,mac),
    c37 public.encrypted_float4(aes256,salt,sha256),
    c38 public.encrypted_float4(aes256,salt,nomac),
    c39 public.encrypted_float4(aes256,cbc,salt,nomac),
    c40 public.encrypted_float4(aes256,salt,mac),
    c41 public.encrypted_float4(aes256,cbc,salt,mac),
    c42 public.encrypted_float4(aes256,salt,sha256),
    c43 public.encrypted_float4(aes256,cbc,salt,sha256),
    c44 public.encrypted_float4(aes256,nosalt,nomac),
    c45 public.encrypted_float4(aes256,nosalt,mac),
    c46 public.encrypted_float4(aes256,nosalt,sha256),
    c47 public.encrypted_float4(aes256,nosalt,nomac),
    c48 public.encrypted_float4(aes256,nosalt,mac),
    c49 public.encrypted_float4(aes256,cbc,nosalt,mac),
    c50 public.encrypted_float4(aes256,nosalt,sha256),
    c51 public.encrypted_float4(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_float4(aes256,salt,mac,'key=named')
);


--
-- Name: v_float8; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_float8 (
    c1 public.encrypted_float8(aes128,salt,nomac),
    c2 public.encrypted_float8(aes128,salt,mac),
    c3 public.encrypted_float8(aes128,salt,sha256),
    c4 public.encrypted_float8(aes128,salt,nomac),
    c5 public.encrypted_float8(aes128,cbc,salt,nomac),
    c6 public.encrypted_float8(aes128,salt,mac),
    c7 public.encrypted_float8(aes128,cbc,salt,mac),
    c8 public.encrypted_float8(aes128,salt,sha256),
    c9 public.encrypted_float8(aes128,cbc,salt,sha256),
    c10 public.encrypted_float8(aes128,nosalt,nomac),
    c11 public.encrypted_float8(aes128,nosalt,mac),
    c12 public.encrypted_float8(aes128,nosalt,sha256),
    c13 public.encrypted_float8(aes128,nosalt,nomac),
    c14 public.encrypted_float8(aes128,nosalt,mac),
    c15 public.encrypted_float8(aes128,cbc,nosalt,mac),
    c16 public.encrypted_float8(aes128,nosalt,sha256),
    c17 public.encrypted_float8(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_float8(aes192,salt,nomac),
    c19 public.encrypted_float8(aes192,salt,mac),
    c20 public.encrypted_float8(aes192,salt,sha256),
    c21 public.encrypted_float8(aes192,salt,nomac),
    c22 public.encrypted_float8(aes192,cbc,salt,nomac),
    c23 public.encrypted_float8(aes192,salt,mac),
    c24 public.encrypted_float8(aes192,cbc,salt,mac),
    c25 public.encrypted_float8(aes192,salt,sha256),
    c26 public.encrypted_float8(aes192,cbc,salt,sha256),
    c27 public.encrypted_float8(aes192,nosalt,nomac),
    c28 public.encrypted_float8(aes192,nosalt,mac),
    c29 public.encrypted_float8(aes192,nosalt,sha256),
    c30 public.encrypted_float8(aes192,nosalt,nomac),
    c31 public.encrypted_float8(aes192,nosalt,mac),
    c32 public.encrypted_float8(aes192,cbc,nosalt,mac),
    c33 public.encrypted_float8(aes192,nosalt,sha256),
    c34 public.encrypted_float8(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_float8(aes256,salt,nomac),
    c36 public.encrypted_float8(aes256,salt,mac),
    c37 public.encrypted_float8(aes256,salt,sha256),
    c38 public.encrypted_float8(aes256,salt,nomac),
    c39 public.encrypted_float8(aes256,cbc,salt,nomac),
    c40 public.encrypted_float8(aes256,salt,mac),
    c41 public.encrypted_float8(aes256,cbc,salt,mac),
    c42 public.encrypted_float8(aes256,salt,sha256),
    c43 public.encrypted_float8(aes256,cbc,salt,sha256),
    c44 public.encrypted_float8(aes256,nosalt,nomac),
    c45 public.encrypted_float8(aes256,nosalt,mac),
    c46 public.encrypted_float8(aes256,nosalt,sha256),
    c47 public.encrypted_float8(aes256,nosalt,nomac),
    c48 public.encrypted_float8(aes256,nosalt,mac),
    c49 public.encrypted_float8(aes256,cbc,nosalt,mac),
    c50 public.encrypted_float8(aes256,nosalt,sha256),
    c51 public.encrypted_float8(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_float8(aes256,salt,mac,'key=named')
);


--
-- Name: v_inet; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_inet (
    c1 public.encrypted_inet(aes128,salt,mac),
    c2 public.encrypted_inet(aes128,salt,sha256),
    c3 public.encrypted_inet(aes128,salt,mac),
    c4 public.encrypted_inet(aes128,cbc,salt,mac),
    c5 public.encrypted_inet(aes128,salt,sha256),
    c6 public.encrypted_inet(aes128,cbc,salt,sha256),
    c7 public.encrypted_inet(aes128,nosalt,mac),
    c8 public.encrypted_inet(aes128,nosalt,sha256),
    c9 public.encrypted_inet(aes128,nosalt,mac),
    c10 public.encrypted_inet(aes128,cbc,nosalt,mac),
    c11 public.encrypted_inet(aes128,nosalt,sha256),
    c12 public.encrypted_inet(aes128,cbc,nosalt,sha256),
    c13 public.encrypted_inet(aes192,salt,mac),
    c14 public.encrypted_inet(aes192,salt,sha256),
    c15 public.encrypted_inet(aes192,salt,mac),
    c16 public.encrypted_inet(aes192,cbc,salt,mac),
    c17 public.encrypted_inet(aes192,salt,sha256),
    c18 public.encrypted_inet(aes192,cbc,salt,sha256),
    c19 public.encrypted_inet(aes192,nosalt,mac),
    c20 public.encrypted_inet(aes192,nosalt,sha256),
    c21 public.encrypted_inet(aes192,nosalt,mac),
    c22 public.encrypted_inet(aes192,cbc,nosalt,mac),
    c23 public.encrypted_inet(aes192,nosalt,sha256),
    c24 public.encrypted_inet(aes192,cbc,nosalt,sha256),
    c25 public.encrypted_inet(aes256,salt,mac),
    c26 public.encrypted_inet(aes256,salt,sha256),
    c27 public.encrypted_inet(aes256,salt,mac),
    c28 public.encrypted_inet(aes256,cbc,salt,mac),
    c29 public.encrypted_inet(aes256,salt,sha256),
    c30 public.encrypted_inet(aes256,cbc,salt,sha256),
    c31 public.encrypted_inet(aes256,nosalt,mac),
    c32 public.encrypted_inet(aes256,nosalt,sha256),
    c33 public.encrypted_inet(aes256,nosalt,mac),
    c34 public.encrypted_inet(aes256,cbc,nosalt,mac),
    c35 public.encrypted_inet(aes256,nosalt,sha256),
    c36 public.encrypted_inet(aes256,cbc,nosalt,sha256),
    c37 public.encrypted_inet(aes256,salt,mac,'key=named')
);


--
-- Name: v_int2; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_int2 (
    c1 public.encrypted_int2(aes128,salt,nomac),
    c2 public.encrypted_int2(aes128,salt,mac),
    c3 public.encrypted_int2(aes128,salt,sha256),
    c4 public.encrypted_int2(aes128,salt,nomac),
    c5 public.encrypted_int2(aes128,cbc,salt,nomac),
    c6 public.encrypted_int2(aes128,salt,mac),
    c7 public.encrypted_int2(aes128,cbc,salt,mac),
    c8 public.encrypted_int2(aes128,salt,sha256),
    c9 public.encrypted_int2(aes128,cbc,salt,sha256),
    c10 public.encrypted_int2(aes128,nosalt,nomac),
    c11 public.encrypted_int2(aes128,nosalt,mac),
    c12 public.encrypted_int2(aes128,nosalt,sha256),
    c13 public.encrypted_int2(aes128,nosalt,nomac),
    c14 public.encrypted_int2(aes128,nosalt,mac),
    c15 public.encrypted_int2(aes128,cbc,nosalt,mac),
    c16 public.encrypted_int2(aes128,nosalt,sha256),
    c17 public.encrypted_int2(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_int2(aes192,salt,nomac),
    c19 public.encrypted_int2(aes192,salt,mac),
    c20 public.encrypted_int2(aes192,salt,sha256),
    c21 public.encrypted_int2(aes192,salt,nomac),
    c22 public.encrypted_int2(aes192,cbc,salt,nomac),
    c23 public.encrypted_int2(aes192,salt,mac),
    c24 public.encrypted_int2(aes192,cbc,salt,mac),
    c25 public.encrypted_int2(aes192,salt,sha256),
    c26 public.encrypted_int2(aes192,cbc,salt,sha256),
    c27 public.encrypted_int2(aes192,nosalt,nomac),
    c28 public.encrypted_int2(aes192,nosalt,mac),
    c29 public.encrypted_int2(aes192,nosalt,sha256),
    c30 public.encrypted_int2(aes192,nosalt,nomac),
    c31 public.encrypted_int2(aes192,nosalt,mac),
    c32 public.encrypted_int2(aes192,cbc,nosalt,mac),
    c33 public.encrypted_int2(aes192,nosalt,sha256),
    c34 public.encrypted_int2(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_int2(aes256,salt,nomac),
    c36 public.encrypted_int2(aes256,salt,mac),
    c37 public.encrypted_int2(aes256,salt,sha256),
    c38 public.encrypted_int2(aes256,salt,nomac),
    c39 public.encrypted_int2(aes256,cbc,salt,nomac),
    c40 public.encrypted_int2(aes256,salt,mac),
    c41 public.encrypted_int2(aes256,cbc,salt,mac),
    c42 public.encrypted_int2(aes256,salt,sha256),
    c43 public.encrypted_int2(aes256,cbc,salt,sha256),
    c44 public.encrypted_int2(aes256,nosalt,nomac),
    c45 public.encrypted_int2(aes256,nosalt,mac),
    c46 public.encrypted_int2(aes256,nosalt,sha256),
    c47 public.encrypted_int2(aes256,nosalt,nomac),
    c48 public.encrypted_int2(aes256,nosalt,mac),
    c49 public.encrypted_int2(aes256,cbc,nosalt,mac),
    c50 public.encrypted_int2(aes256,nosalt,sha256),
    c51 public.encrypted_int2(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_int2(aes256,salt,mac,'key=named')
);


--
-- Name: v_int4; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_int4 (
    c1 public.encrypted_int4(aes128,salt,nomac),
    c2 public.encrypted_int4(aes128,salt,mac),
    c3 public.encrypted_int4(aes128,salt,sha256),
    c4 public.encrypted_int4(aes128,salt,nomac),
    c5 public.encrypted_int4(aes128,cbc,salt,nomac),
    c6 public.encrypted_int4(aes128,salt,mac),
    c7 public.encrypted_int4(aes128,cbc,salt,mac),
    c8 public.encrypted_int4(aes128,salt,sha256),
    c9 public.encrypted_int4(aes128,cbc,salt,sha256),
    c10 public.encrypted_int4(aes128,nosalt,nomac),
    c11 public.encrypted_int4(aes128,nosalt,mac),
    c12 public.encrypted_int4(aes128,nosalt,sha256),
    c13 public.encrypted_int4(aes128,nosalt,nomac),
    c14 public.encrypted_int4(aes128,nosalt,mac),
    c15 public.encrypted_int4(aes128,cbc,nosalt,mac),
    c16 public.encrypted_int4(aes128,nosalt,sha256),
    c17 public.encrypted_int4(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_int4(aes192,salt,nomac),
    c19 public.encrypted_int4(aes192,salt,mac),
    c20 public.encrypted_int4(aes192,salt,sha256),
    c21 public.encrypted_int4(aes192,salt,nomac),
    c22 public.encrypted_int4(aes192,cbc,salt,nomac),
    c23 public.encrypted_int4(aes192,salt,mac),
    c24 public.encrypted_int4(aes192,cbc,salt,mac),
    c25 public.encrypted_int4(aes192,salt,sha256),
    c26 public.encrypted_int4(aes192,cbc,salt,sha256),
    c27 public.encrypted_int4(aes192,nosalt,nomac),
    c28 public.encrypted_int4(aes192,nosalt,mac),
    c29 public.encrypted_int4(aes192,nosalt,sha256),
    c30 public.encrypted_int4(aes192,nosalt,nomac),
    c31 public.encrypted_int4(aes192,nosalt,mac),
    c32 public.encrypted_int4(aes192,cbc,nosalt,mac),
    c33 public.encrypted_int4(aes192,nosalt,sha256),
    c34 public.encrypted_int4(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_int4(aes256,salt,nomac),
    c36 public.encrypted_int4(aes256,salt,mac),
    c37 public.encrypted_int4(aes256,salt,sha256),
    c38 public.encrypted_int4(aes256,salt,nomac),
    c39 public.encrypted_int4(aes256,cbc,salt,nomac),
    c40 public.encrypted_int4(aes256,salt,mac),
    c41 public.encrypted_int4(aes256,cbc,salt,mac),
    c42 public.encrypted_int4(aes256,salt,sha256),
    c43 public.encrypted_int4(aes256,cbc,salt,sha256),
    c44 public.encrypted_int4(aes256,nosalt,nomac),
    c45 public.encrypted_int4(aes256,nosalt,mac),
    c46 public.encrypted_int4(aes256,nosalt,sha256),
    c47 public.encrypted_int4(aes256,nosalt,nomac),
    c48 public.encrypted_int4(aes256,nosalt,mac),
    c49 public.encrypted_int4(aes256,cbc,nosalt,mac),
    c50 public.encrypted_int4(aes256,nosalt,sha256),
    c51 public.encrypted_int4(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_int4(aes256,salt,mac,'key=named')
);


--
-- Name: v_int8; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_int8 (
    c1 public.encrypted_int8(aes128,salt,nomac),
    c2 public.encrypted_int8(aes128,salt,mac),
    c3 public.encrypted_int8(aes128,salt,sha256),
    c4 public.encrypted_int8(aes128,salt,nomac),
    c5 public.encrypted_int8(aes128,cbc,salt,nomac),
    c6 public.encrypted_int8(aes128,salt,mac),
    c7 public.encrypted_int8(aes128,cbc,salt,mac),
    c8 public.encrypted_int8(aes128,salt,sha256),
    c9 public.encrypted_int8(aes128,cbc,salt,sha256),
    c10 public.encrypted_int8(aes128,nosalt,nomac),
    c11 public.encrypted_int8(aes128,nosalt,mac),
    c12 public.encrypted_int8(aes128,nosalt,sha256),
    c13 public.encrypted_int8(aes128,nosalt,nomac),
    c14 public.encrypted_int8(aes128,nosalt,mac),
    c15 public.encrypted_int8(aes128,cbc,nosalt,mac),
    c16 public.encrypted_int8(aes128,nosalt,sha256),
    c17 public.encrypted_int8(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_int8(aes192,salt,nomac),
    c19 public.encrypted_int8(aes192,salt,mac),
    c20 public.encrypted_int8(aes192,salt,sha256),
    c21 public.encrypted_int8(aes192,salt,nomac),
    c22 public.encrypted_int8(aes192,cbc,salt,nomac),
    c23 public.encrypted_int8(aes192,salt,mac),
    c24 public.encrypted_int8(aes192,cbc,salt,mac),
    c25 public.encrypted_int8(aes192,salt,sha256),
    c26 public.encrypted_int8(aes192,cbc,salt,sha256),
    c27 public.encrypted_int8(aes192,nosalt,nomac),
    c28 public.encrypted_int8(aes192,nosalt,mac),
    c29 public.encrypted_int8(aes192,nosalt,sha256),
    c30 public.encrypted_int8(aes192,nosalt,nomac),
    c31 public.encrypted_int8(aes192,nosalt,mac),
    c32 public.encrypted_int8(aes192,cbc,nosalt,mac),
    c33 public.encrypted_int8(aes192,nosalt,sha256),
    c34 public.encrypted_int8(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_int8(aes256,salt,nomac),
    c36 public.encrypted_int8(aes256,salt,mac),
    c37 public.encrypted_int8(aes256,salt,sha256),
    c38 public.encrypted_int8(aes256,salt,nomac),
    c39 public.encrypted_int8(aes256,cbc,salt,nomac),
    c40 public.encrypted_int8(aes256,salt,mac),
    c41 public.encrypted_int8(aes256,cbc,salt,mac),
    c42 public.encrypted_int8(aes256,salt,sha256),
    c43 public.encrypted_int8(aes256,cbc,salt,sha256),
    c44 public.encrypted_int8(aes256,nosalt,nomac),
    c45 public.encrypted_int8(aes256,nosalt,mac),
    c46 public.encrypted_int8(aes256,nosalt,sha256),
    c47 public.encrypted_int8(aes256,nosalt,nomac),
    c48 public.encrypted_int8(aes256,nosalt,mac),
    c49 public.encrypted_int8(aes256,cbc,nosalt,mac),
    c50 public.encrypted_int8(aes256,nosalt,sha256),
    c51 public.encrypted_int8(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_int8(aes256,salt,mac,'key=named')
);


--
-- Name: v_interval; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_interval (
    c1 public.encrypted_interval(aes128,salt,nomac),
    c2 public.encrypted_interval(aes128,salt,mac),
    c3 public.encrypted_interval(aes128,salt,sha256),
    c4 public.encrypted_interval(aes128,salt,nomac),
    c5 public.encrypted_interval(aes128,cbc,salt,nomac),
    c6 public.encrypted_interval(aes128,salt,mac),
    c7 public.encrypted_interval(aes128,cbc,salt,mac),
    c8 public.encrypted_interval(aes128,salt,sha256),
    c9 public.encrypted_interval(aes128,cbc,salt,sha256),
    c10 public.encrypted_interval(aes128,nosalt,nomac),
    c11 public.encrypted_interval(aes128,nosalt,mac),
    c12 public.encrypted_interval(aes128,nosalt,sha256),
    c13 public.encrypted_interval(aes128,nosalt,nomac),
    c14 public.encrypted_interval(aes128,nosalt,mac),
    c15 public.encrypted_interval(aes128,cbc,nosalt,mac),
    c16 public.encrypted_interval(aes128,nosalt,sha256),
    c17 public.encrypted_interval(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_interval(aes192,salt,nomac),
    c19 public.encrypted_interval(aes192,salt,mac),
    c20 public.encrypted_interval(aes192,salt,sha256),
    c21 public.encrypted_interval(aes192,salt,nomac),
    c22 public.encrypted_interval(aes192,cbc,salt,nomac),
    c23 public.encrypted_interval(aes192,salt,mac),
    c24 public.encrypted_interval(aes192,cbc,salt,mac),
    c25 public.encrypted_interval(aes192,salt,sha256),
    c26 public.encrypted_interval(aes192,cbc,salt,sha256),
    c27 public.encrypted_interval(aes192,nosalt,nomac),
    c28 public.encrypted_interval(aes192,nosalt,mac),
    c29 public.encrypted_interval(aes192,nosalt,sha256),
    c30 public.encrypted_interval(aes192,nosalt,nomac),
    c31 public.encrypted_interval(aes192,nosalt,mac),
    c32 public.encrypted_interval(aes192,cbc,nosalt,mac),
    c33 public.encrypted_interval(aes192,nosalt,sha256),
    c34 public.encrypted_interval(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_interval(aes256,salt,nomac),
    c36 public.encrypted_interval(aes256,salt,mac),
    c37 public.encrypted_interval(aes256,salt,sha256),
    c38 public.encrypted_interval(aes256,salt,nomac),
    c39 public.encrypted_interval(aes256,cbc,salt,nomac),
    c40 public.encrypted_interval(aes256,salt,mac),
    c41 public.encrypted_interval(aes256,cbc,salt,mac),
    c42 public.encrypted_interval(aes256,salt,sha256),
    c43 public.encrypted_interval(aes256,cbc,salt,sha256),
    c44 public.encrypted_interval(aes256,nosalt,nomac),
    c45 public.encrypted_interval(aes256,nosalt,mac),
    c46 public.encrypted_interval(aes256,nosalt,sha256),
    c47 public.encrypted_interval(aes256,nosalt,nomac),
    c48 public.encrypted_interval(aes256,nosalt,mac),
    c49 public.encrypted_interval(aes256,cbc,nosalt,mac),
    c50 public.encrypted_interval(aes256,nosalt,sha256),
    c51 public.encrypted_interval(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_interval(aes256,salt,mac,'key=named')
);


--
-- Name: v_json; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_json (
    c1 public.encrypted_json(aes128,salt,mac),
    c2 public.encrypted_json(aes128,salt,sha256),
    c3 public.encrypted_json(aes128,salt,mac),
    c4 public.encrypted_json(aes128,cbc,salt,mac),
    c5 public.encrypted_json(aes128,salt,sha256),
    c6 public.encrypted_json(aes128,cbc,salt,sha256),
    c7 public.encrypted_json(aes128,nosalt,mac),
    c8 public.encrypted_json(aes128,nosalt,sha256),
    c9 public.encrypted_json(aes128,nosalt,mac),
    c10 public.encrypted_json(aes128,cbc,nosalt,mac),
    c11 public.encrypted_json(aes128,nosalt,sha256),
    c12 public.encrypted_json(aes128,cbc,nosalt,sha256),
    c13 public.encrypted_json(aes192,salt,mac),
    c14 public.encrypted_json(aes192,salt,sha256),
    c15 public.encrypted_json(aes192,salt,mac),
    c16 public.encrypted_json(aes192,cbc,salt,mac),
    c17 public.encrypted_json(aes192,salt,sha256),
    c18 public.encrypted_json(aes192,cbc,salt,sha256),
    c19 public.encrypted_json(aes192,nosalt,mac),
    c20 public.encrypted_json(aes192,nosalt,sha256),
    c21 public.encrypted_json(aes192,nosalt,mac),
    c22 public.encrypted_json(aes192,cbc,nosalt,mac),
    c23 public.encrypted_json(aes192,nosalt,sha256),
    c24 public.encrypted_json(aes192,cbc,nosalt,sha256),
    c25 public.encrypted_json(aes256,salt,mac),
    c26 public.encrypted_json(aes256,salt,sha256),
    c27 public.encrypted_json(aes256,salt,mac),
    c28 public.encrypted_json(aes256,cbc,salt,mac),
    c29 public.encrypted_json(aes256,salt,sha256),
    c30 public.encrypted_json(aes256,cbc,salt,sha256),
    c31 public.encrypted_json(aes256,nosalt,mac),
    c32 public.encrypted_json(aes256,nosalt,sha256),
    c33 public.encrypted_json(aes256,nosalt,mac),
    c34 public.encrypted_json(aes256,cbc,nosalt,mac),
    c35 public.encrypted_json(aes256,nosalt,sha256),
    c36 public.encrypted_json(aes256,cbc,nosalt,sha256),
    c37 public.encrypted_json(aes256,salt,mac,'key=named')
);


--
-- Name: v_jsonb; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_jsonb (
    c1 public.encrypted_jsonb(aes128,salt,mac),
    c2 public.encrypted_jsonb(aes128,salt,sha256),
    c3 public.encrypted_jsonb(aes128,salt,mac),
    c4 public.encrypted_jsonb(aes128,cbc,salt,mac),
    c5 public.encrypted_jsonb(aes128,salt,sha256),
    c6 public.encrypted_jsonb(aes128,cbc,salt,sha256),
    c7 public.encrypted_jsonb(aes128,nosalt,mac),
    c8 public.encrypted_jsonb(aes128,nosalt,sha256),
    c9 public.encrypted_jsonb(aes128,nosalt,mac),
    c10 public.encrypted_jsonb(aes128,cbc,nosalt,mac),
    c11 public.encrypted_jsonb(aes128,nosalt,sha256),
    c12 public.encrypted_jsonb(aes128,cbc,nosalt,sha256),
    c13 public.encrypted_jsonb(aes192,salt,mac),
    c14 public.encrypted_jsonb(aes192,salt,sha256),
    c15 public.encrypted_jsonb(aes192,salt,mac),
    c16 public.encrypted_jsonb(aes192,cbc,salt,mac),
    c17 public.encrypted_jsonb(aes192,salt,sha256),
    c18 public.encrypted_jsonb(aes192,cbc,salt,sha256),
    c19 public.encrypted_jsonb(aes192,nosalt,mac),
    c20 public.encrypted_jsonb(aes192,nosalt,sha256),
    c21 public.encrypted_jsonb(aes192,nosalt,mac),
    c22 public.encrypted_jsonb(aes192,cbc,nosalt,mac),
    c23 public.encrypted_jsonb(aes192,nosalt,sha256),
    c24 public.encrypted_jsonb(aes192,cbc,nosalt,sha256),
    c25 public.encrypted_jsonb(aes256,salt,mac),
    c26 public.encrypted_jsonb(aes256,salt,sha256),
    c27 public.encrypted_jsonb(aes256,salt,mac),
    c28 public.encrypted_jsonb(aes256,cbc,salt,mac),
    c29 public.encrypted_jsonb(aes256,salt,sha256),
    c30 public.encrypted_jsonb(aes256,cbc,salt,sha256),
    c31 public.encrypted_jsonb(aes256,nosalt,mac),
    c32 public.encrypted_jsonb(aes256,nosalt,sha256),
    c33 public.encrypted_jsonb(aes256,nosalt,mac),
    c34 public.encrypted_jsonb(aes256,cbc,nosalt,mac),
    c35 public.encrypted_jsonb(aes256,nosalt,sha256),
    c36 public.encrypted_jsonb(aes256,cbc,nosalt,sha256),
    c37 public.encrypted_jsonb(aes256,salt,mac,'key=named')
);


--
-- Name: v_numeric; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_numeric (
    c1 public.encrypted_numeric(aes128,salt,nomac),
    c2 public.encrypted_numeric(aes128,salt,mac),
    c3 public.encrypted_numeric(aes128,salt,sha256),
    c4 public.encrypted_numeric(aes128,salt,nomac),
    c5 public.encrypted_numeric(aes128,cbc,salt,nomac),
    c6 public.encrypted_numeric(aes128,salt,mac),
    c7 public.encrypted_numeric(aes128,cbc,salt,mac),
    c8 public.encrypted_numeric(aes128,salt,sha256),
    c9 public.encrypted_numeric(aes128,cbc,salt,sha256),
    c10 public.encrypted_numeric(aes128,nosalt,nomac),
    c11 public.encrypted_numeric(aes128,nosalt,mac),
    c12 public.encrypted_numeric(aes128,nosalt,sha256),
    c13 public.encrypted_numeric(aes128,nosalt,nomac),
    c14 public.encrypted_numeric(aes128,nosalt,mac),
    c15 public.encrypted_numeric(aes128,cbc,nosalt,mac),
    c16 public.encrypted_numeric(aes128,nosalt,sha256),
    c17 public.encrypted_numeric(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_numeric(aes192,salt,nomac),
    c19 public.encrypted_numeric(aes192,salt,mac),
    c20 public.encrypted_numeric(aes192,salt,sha256),
    c21 public.encrypted_numeric(aes192,salt,nomac),
    c22 public.encrypted_numeric(aes192,cbc,salt,nomac),
    c23 public.encrypted_numeric(aes192,salt,mac),
    c24 public.encrypted_numeric(aes192,cbc,salt,mac),
    c25 public.encrypted_numeric(aes192,salt,sha256),
    c26 public.encrypted_numeric(aes192,cbc,salt,sha256),
    c27 public.encrypted_numeric(aes192,nosalt,nomac),
    c28 public.encrypted_numeric(aes192,nosalt,mac),
    c29 public.encrypted_numeric(aes192,nosalt,sha256),
    c30 public.encrypted_numeric(aes192,nosalt,nomac),
    c31 public.encrypted_numeric(aes192,nosalt,mac),
    c32 public.encrypted_numeric(aes192,cbc,nosalt,mac),
    c33 public.encrypted_numeric(aes192,nosalt,sha256),
    c34 public.encrypted_numeric(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_numeric(aes256,salt,nomac),
    c36 public.encrypted_numeric(aes256,salt,mac),
    c37 public.encrypted_numeric(aes256,salt,sha256),
    c38 public.encrypted_numeric(aes256,salt,nomac),
    c39 public.encrypted_numeric(aes256,cbc,salt,nomac),
    c40 public.encrypted_numeric(aes256,salt,mac),
    c41 public.encrypted_numeric(aes256,cbc,salt,mac),
    c42 public.encrypted_numeric(aes256,salt,sha256),
    c43 public.encrypted_numeric(aes256,cbc,salt,sha256),
    c44 public.encrypted_numeric(aes256,nosalt,nomac),
    c45 public.encrypted_numeric(aes256,nosalt,mac),
    c46 public.encrypted_numeric(aes256,nosalt,sha256),
    c47 public.encrypted_numeric(aes256,nosalt,nomac),
    c48 public.encrypted_numeric(aes256,nosalt,mac),
    c49 public.encrypted_numeric(aes256,cbc,nosalt,mac),
    c50 public.encrypted_numeric(aes256,nosalt,sha256),
    c51 public.encrypted_numeric(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_numeric(aes256,salt,mac,'key=named')
);


--
-- Name: v_text; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_text (
    c1 public.encrypted_text(aes128,salt,nomac),
    c2 public.encrypted_text(aes128,salt,mac),
    c3 public.encrypted_text(aes128,salt,sha256),
    c4 public.encrypted_text(aes128,salt,nomac),
    c5 public.encrypted_text(aes128,cbc,salt,nomac),
    c6 public.encrypted_text(aes128,salt,mac),
    c7 public.encrypted_text(aes128,cbc,salt,mac),
    c8 public.encrypted_text(aes128,salt,sha256),
    c9 public.encrypted_text(aes128,cbc,salt,sha256),
    c10 public.encrypted_text(aes128,nosalt,nomac),
    c11 public.encrypted_text(aes128,nosalt,mac),
    c12 public.encrypted_text(aes128,nosalt,sha256),
    c13 public.encrypted_text(aes128,nosalt,nomac),
    c14 public.encrypted_text(aes128,nosalt,mac),
    c15 public.encrypted_text(aes128,cbc,nosalt,mac),
    c16 public.encrypted_text(aes128,nosalt,sha256),
    c17 public.encrypted_text(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_text(aes192,salt,nomac),
    c19 public.encrypted_text(aes192,salt,mac),
    c20 public.encrypted_text(aes192,salt,sha256),
    c21 public.encrypted_text(aes192,salt,nomac),
    c22 public.encrypted_text(aes192,cbc,salt,nomac),
    c23 public.encrypted_text(aes192,salt,mac),
    c24 public.encrypted_text(aes192,cbc,salt,mac),
    c25 public.encrypted_text(aes192,salt,sha256),
    c26 public.encrypted_text(aes192,cbc,salt,sha256),
    c27 public.encrypted_text(aes192,nosalt,nomac),
    c28 public.encrypted_text(aes192,nosalt,mac),
    c29 public.encrypted_text(aes192,nosalt,sha256),
    c30 public.encrypted_text(aes192,nosalt,nomac),
    c31 public.encrypted_text(aes192,nosalt,mac),
    c32 public.encrypted_text(aes192,cbc,nosalt,mac),
    c33 public.encrypted_text(aes192,nosalt,sha256),
    c34 public.encrypted_text(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_text(aes256,salt,nomac),
    c36 public.encrypted_text(aes256,salt,mac),
    c37 public.encrypted_text(aes256,salt,sha256),
    c38 public.encrypted_text(aes256,salt,nomac),
    c39 public.encrypted_text(aes256,cbc,salt,nomac),
    c40 public.encrypted_text(aes256,salt,mac),
    c41 public.encrypted_text(aes256,cbc,salt,mac),
    c42 public.encrypted_text(aes256,salt,sha256),
    c43 public.encrypted_text(aes256,cbc,salt,sha256),
    c44 public.encrypted_text(aes256,nosalt,nomac),
    c45 public.encrypted_text(aes256,nosalt,mac),
    c46 public.encrypted_text(aes256,nosalt,sha256),
    c47 public.encrypted_text(aes256,nosalt,nomac),
    c48 public.encrypted_text(aes256,nosalt,mac),
    c49 public.encrypted_text(aes256,cbc,nosalt,mac),
    c50 public.encrypted_text(aes256,nosalt,sha256),
    c51 public.encrypted_text(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_text(aes256,salt,mac,'key=named')
);


--
-- Name: v_time; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_time (
    c1 public.encrypted_time(aes128,salt,nomac),
    c2 public.encrypted_time(aes128,salt,mac),
    c3 public.encrypted_time(aes128,salt,sha256),
    c4 public.encrypted_time(aes128,salt,nomac),
    c5 public.encrypted_time(aes128,cbc,salt,nomac),
    c6 public.encrypted_time(aes128,salt,mac),
    c7 public.encrypted_time(aes128,cbc,salt,mac),
    c8 public.encrypted_time(aes128,salt,sha256),
    c9 public.encrypted_time(aes128,cbc,salt,sha256),
    c10 public.encrypted_time(aes128,nosalt,nomac),
    c11 public.encrypted_time(aes128,nosalt,mac),
    c12 public.encrypted_time(aes128,nosalt,sha256),
    c13 public.encrypted_time(aes128,nosalt,nomac),
    c14 public.encrypted_time(aes128,nosalt,mac),
    c15 public.encrypted_time(aes128,cbc,nosalt,mac),
    c16 public.encrypted_time(aes128,nosalt,sha256),
    c17 public.encrypted_time(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_time(aes192,salt,nomac),
    c19 public.encrypted_time(aes192,salt,mac),
    c20 public.encrypted_time(aes192,salt,sha256),
    c21 public.encrypted_time(aes192,salt,nomac),
    c22 public.encrypted_time(aes192,cbc,salt,nomac),
    c23 public.encrypted_time(aes192,salt,mac),
    c24 public.encrypted_time(aes192,cbc,salt,mac),
    c25 public.encrypted_time(aes192,salt,sha256),
    c26 public.encrypted_time(aes192,cbc,salt,sha256),
    c27 public.encrypted_time(aes192,nosalt,nomac),
    c28 public.encrypted_time(aes192,nosalt,mac),
    c29 public.encrypted_time(aes192,nosalt,sha256),
    c30 public.encrypted_time(aes192,nosalt,nomac),
    c31 public.encrypted_time(aes192,nosalt,mac),
    c32 public.encrypted_time(aes192,cbc,nosalt,mac),
    c33 public.encrypted_time(aes192,nosalt,sha256),
    c34 public.encrypted_time(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_time(aes256,salt,nomac),
    c36 public.encrypted_time(aes256,salt,mac),
    c37 public.encrypted_time(aes256,salt,sha256),
    c38 public.encrypted_time(aes256,salt,nomac),
    c39 public.encrypted_time(aes256,cbc,salt,nomac),
    c40 public.encrypted_time(aes256,salt,mac),
    c41 public.encrypted_time(aes256,cbc,salt,mac),
    c42 public.encrypted_time(aes256,salt,sha256),
    c43 public.encrypted_time(aes256,cbc,salt,sha256),
    c44 public.encrypted_time(aes256,nosalt,nomac),
    c45 public.encrypted_time(aes256,nosalt,mac),
    c46 public.encrypted_time(aes256,nosalt,sha256),
    c47 public.encrypted_time(aes256,nosalt,nomac),
    c48 public.encrypted_time(aes256,nosalt,mac),
    c49 public.encrypted_time(aes256,cbc,nosalt,mac),
    c50 public.encrypted_time(aes256,nosalt,sha256),
    c51 public.encrypted_time(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_time(aes256,salt,mac,'key=named')
);


--
-- Name: v_timestamp; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_timestamp (
    c1 public.encrypted_timestamp(aes128,salt,nomac),
    c2 public.encrypted_timestamp(aes128,salt,mac),
    c3 public.encrypted_timestamp(aes128,salt,sha256),
    c4 public.encrypted_timestamp(aes128,salt,nomac),
    c5 public.encrypted_timestamp(aes128,cbc,salt,nomac),
    c6 public.encrypted_timestamp(aes128,salt,mac),
    c7 public.encrypted_timestamp(aes128,cbc,salt,mac),
    c8 public.encrypted_timestamp(aes128,salt,sha256),
    c9 public.encrypted_timestamp(aes128,cbc,salt,sha256),
    c10 public.encrypted_timestamp(aes128,nosalt,nomac),
    c11 public.encrypted_timestamp(aes128,nosalt,mac),
    c12 public.encrypted_timestamp(aes128,nosalt,sha256),
    c13 public.encrypted_timestamp(aes128,nosalt,nomac),
    c14 public.encrypted_timestamp(aes128,nosalt,mac),
    c15 public.encrypted_timestamp(aes128,cbc,nosalt,mac),
    c16 public.encrypted_timestamp(aes128,nosalt,sha256),
    c17 public.encrypted_timestamp(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_timestamp(aes192,salt,nomac),
    c19 public.encrypted_timestamp(aes192,salt,mac),
    c20 public.encrypted_timestamp(aes192,salt,sha256),
    c21 public.encrypted_timestamp(aes192,salt,nomac),
    c22 public.encrypted_timestamp(aes192,cbc,salt,nomac),
    c23 public.encrypted_timestamp(aes192,salt,mac),
    c24 public.encrypted_timestamp(aes192,cbc,salt,mac),
    c25 public.encrypted_timestamp(aes192,salt,sha256),
    c26 public.encrypted_timestamp(aes192,cbc,salt,sha256),
    c27 public.encrypted_timestamp(aes192,nosalt,nomac),
    c28 public.encrypted_timestamp(aes192,nosalt,mac),
    c29 public.encrypted_timestamp(aes192,nosalt,sha256),
    c30 public.encrypted_timestamp(aes192,nosalt,nomac),
    c31 public.encrypted_timestamp(aes192,nosalt,mac),
    c32 public.encrypted_timestamp(aes192,cbc,nosalt,mac),
    c33 public.encrypted_timestamp(aes192,nosalt,sha256),
    c34 public.encrypted_timestamp(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_timestamp(aes256,salt,nomac),
    c36 public.encrypted_timestamp(aes256,salt,mac),
    c37 public.encrypted_timestamp(aes256,salt,sha256),
    c38 public.encrypted_timestamp(aes256,salt,nomac),
    c39 public.encrypted_timestamp(aes256,cbc,salt,nomac),
    c40 public.encrypted_timestamp(aes256,salt,mac),
    c41 public.encrypted_timestamp(aes256,cbc,salt,mac),
    c42 public.encrypted_timestamp(aes256,salt,sha256),
    c43 public.encrypted_timestamp(aes256,cbc,salt,sha256),
    c44 public.encrypted_timestamp(aes256,nosalt,nomac),
    c45 public.encrypted_timestamp(aes256,nosalt,mac),
    c46 public.encrypted_timestamp(aes256,nosalt,sha256),
    c47 public.encrypted_timestamp(aes256,nosalt,nomac),
    c48 public.encrypted_timestamp(aes256,nosalt,mac),
    c49 public.encrypted_timestamp(aes256,cbc,nosalt,mac),
    c50 public.encrypted_timestamp(aes256,nosalt,sha256),
    c51 public.encrypted_timestamp(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_timestamp(aes256,salt,mac,'key=named')
);


--
-- Name: v_timestamptz; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_timestamptz (
    c1 public.encrypted_timestamptz(aes128,salt,nomac),
    c2 public.encrypted_timestamptz(aes128,salt,mac),
    c3 public.encrypted_timestamptz(aes128,salt,sha256),
    c4 public.encrypted_timestamptz(aes128,salt,nomac),
    c5 public.encrypted_timestamptz(aes128,cbc,salt,nomac),
    c6 public.encrypted_timestamptz(aes128,salt,mac),
    c7 public.encrypted_timestamptz(aes128,cbc,salt,mac),
    c8 public.encrypted_timestamptz(aes128,salt,sha256),
    c9 public.encrypted_timestamptz(aes128,cbc,salt,sha256),
    c10 public.encrypted_timestamptz(aes128,nosalt,nomac),
    c11 public.encrypted_timestamptz(aes128,nosalt,mac),
    c12 public.encrypted_timestamptz(aes128,nosalt,sha256),
    c13 public.encrypted_timestamptz(aes128,nosalt,nomac),
    c14 public.encrypted_timestamptz(aes128,nosalt,mac),
    c15 public.encrypted_timestamptz(aes128,cbc,nosalt,mac),
    c16 public.encrypted_timestamptz(aes128,nosalt,sha256),
    c17 public.encrypted_timestamptz(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_timestamptz(aes192,salt,nomac),
    c19 public.encrypted_timestamptz(aes192,salt,mac),
    c20 public.encrypted_timestamptz(aes192,salt,sha256),
    c21 public.encrypted_timestamptz(aes192,salt,nomac),
    c22 public.encrypted_timestamptz(aes192,cbc,salt,nomac),
    c23 public.encrypted_timestamptz(aes192,salt,mac),
    c24 public.encrypted_timestamptz(aes192,cbc,salt,mac),
    c25 public.encrypted_timestamptz(aes192,salt,sha256),
    c26 public.encrypted_timestamptz(aes192,cbc,salt,sha256),
    c27 public.encrypted_timestamptz(aes192,nosalt,nomac),
    c28 public.encrypted_timestamptz(aes192,nosalt,mac),
    c29 public.encrypted_timestamptz(aes192,nosalt,sha256),
    c30 public.encrypted_timestamptz(aes192,nosalt,nomac),
    c31 public.encrypted_timestamptz(aes192,nosalt,mac),
    c32 public.encrypted_timestamptz(aes192,cbc,nosalt,mac),
    c33 public.encrypted_timestamptz(aes192,nosalt,sha256),
    c34 public.encrypted_timestamptz(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_timestamptz(aes256,salt,nomac),
    c36 public.encrypted_timestamptz(aes256,salt,mac),
    c37 public.encrypted_timestamptz(aes256,salt,sha256),
    c38 public.encrypted_timestamptz(aes256,salt,nomac),
    c39 public.encrypted_timestamptz(aes256,cbc,salt,nomac),
    c40 public.encrypted_timestamptz(aes256,salt,mac),
    c41 public.encrypted_timestamptz(aes256,cbc,salt,mac),
    c42 public.encrypted_timestamptz(aes256,salt,sha256),
    c43 public.encrypted_timestamptz(aes256,cbc,salt,sha256),
    c44 public.encrypted_timestamptz(aes256,nosalt,nomac),
    c45 public.encrypted_timestamptz(aes256,nosalt,mac),
    c46 public.encrypted_timestamptz(aes256,nosalt,sha256),
    c47 public.encrypted_timestamptz(aes256,nosalt,nomac),
    c48 public.encrypted_timestamptz(aes256,nosalt,mac),
    c49 public.encrypted_timestamptz(aes256,cbc,nosalt,mac),
    c50 public.encrypted_timestamptz(aes256,nosalt,sha256),
    c51 public.encrypted_timestamptz(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_timestamptz(aes256,salt,mac,'key=named')
);


--
-- Name: v_timetz; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_timetz (
    c1 public.encrypted_timetz(aes128,salt,nomac),
    c2 public.encrypted_timetz(aes128,salt,mac),
    c3 public.encrypted_timetz(aes128,salt,sha256),
    c4 public.encrypted_timetz(aes128,salt,nomac),
    c5 public.encrypted_timetz(aes128,cbc,salt,nomac),
    c6 public.encrypted_timetz(aes128,salt,mac),
    c7 public.encrypted_timetz(aes128,cbc,salt,mac),
    c8 public.encrypted_timetz(aes128,salt,sha256),
    c9 public.encrypted_timetz(aes128,cbc,salt,sha256),
    c10 public.encrypted_timetz(aes128,nosalt,nomac),
    c11 public.encrypted_timetz(aes128,nosalt,mac),
    c12 public.encrypted_timetz(aes128,nosalt,sha256),
    c13 public.encrypted_timetz(aes128,nosalt,nomac),
    c14 public.encrypted_timetz(aes128,nosalt,mac),
    c15 public.encrypted_timetz(aes128,cbc,nosalt,mac),
    c16 public.encrypted_timetz(aes128,nosalt,sha256),
    c17 public.encrypted_timetz(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_timetz(aes192,salt,nomac),
    c19 public.encrypted_timetz(aes192,salt,mac),
    c20 public.encrypted_timetz(aes192,salt,sha256),
    c21 public.encrypted_timetz(aes192,salt,nomac),
    c22 public.encrypted_timetz(aes192,cbc,salt,nomac),
    c23 public.encrypted_timetz(aes192,salt,mac),
    c24 public.encrypted_timetz(aes192,cbc,salt,mac),
    c25 public.encrypted_timetz(aes192,salt,sha256),
    c26 public.encrypted_timetz(aes192,cbc,salt,sha256),
    c27 public.encrypted_timetz(aes192,nosalt,nomac),
    c28 public.encrypted_timetz(aes192,nosalt,mac),
    c29 public.encrypted_timetz(aes192,nosalt,sha256),
    c30 public.encrypted_timetz(aes192,nosalt,nomac),
    c31 public.encrypted_timetz(aes192,nosalt,mac),
    c32 public.encrypted_timetz(aes192,cbc,nosalt,mac),
    c33 public.encrypted_timetz(aes192,nosalt,sha256),
    c34 public.encrypted_timetz(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_timetz(aes256,salt,nomac),
    c36 public.encrypted_timetz(aes256,salt,mac),
    c37 public.encrypted_timetz(aes256,salt,sha256),
    c38 public.encrypted_timetz(aes256,salt,nomac),
    c39 public.encrypted_timetz(aes256,cbc,salt,nomac),
    c40 public.encrypted_timetz(aes256,salt,mac),
    c41 public.encrypted_timetz(aes256,cbc,salt,mac),
    c42 public.encrypted_timetz(aes256,salt,sha256),
    c43 public.encrypted_timetz(aes256,cbc,salt,sha256),
    c44 public.encrypted_timetz(aes256,nosalt,nomac),
    c45 public.encrypted_timetz(aes256,nosalt,mac),
    c46 public.encrypted_timetz(aes256,nosalt,sha256),
    c47 public.encrypted_timetz(aes256,nosalt,nomac),
    c48 public.encrypted_timetz(aes256,nosalt,mac),
    c49 public.encrypted_timetz(aes256,cbc,nosalt,mac),
    c50 public.encrypted_timetz(aes256,nosalt,sha256),
    c51 public.encrypted_timetz(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_timetz(aes256,salt,mac,'key=named')
);


--
-- Name: v_uuid; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_uuid (
    c1 public.encrypted_uuid(aes128,salt,nomac),
    c2 public.encrypted_uuid(aes128,salt,mac),
    c3 public.encrypted_uuid(aes128,salt,sha256),
    c4 public.encrypted_uuid(aes128,salt,nomac),
    c5 public.encrypted_uuid(aes128,cbc,salt,nomac),
    c6 public.encrypted_uuid(aes128,salt,mac),
    c7 public.encrypted_uuid(aes128,cbc,salt,mac),
    c8 public.encrypted_uuid(aes128,salt,sha256),
    c9 public.encrypted_uuid(aes128,cbc,salt,sha256),
    c10 public.encrypted_uuid(aes128,nosalt,nomac),
    c11 public.encrypted_uuid(aes128,nosalt,mac),
    c12 public.encrypted_uuid(aes128,nosalt,sha256),
    c13 public.encrypted_uuid(aes128,nosalt,nomac),
    c14 public.encrypted_uuid(aes128,nosalt,mac),
    c15 public.encrypted_uuid(aes128,cbc,nosalt,mac),
    c16 public.encrypted_uuid(aes128,nosalt,sha256),
    c17 public.encrypted_uuid(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_uuid(aes192,salt,nomac),
    c19 public.encrypted_uuid(aes192,salt,mac),
    c20 public.encrypted_uuid(aes192,salt,sha256),
    c21 public.encrypted_uuid(aes192,salt,nomac),
    c22 public.encrypted_uuid(aes192,cbc,salt,nomac),
    c23 public.encrypted_uuid(aes192,salt,mac),
    c24 public.encrypted_uuid(aes192,cbc,salt,mac),
    c25 public.encrypted_uuid(aes192,salt,sha256),
    c26 public.encrypted_uuid(aes192,cbc,salt,sha256),
    c27 public.encrypted_uuid(aes192,nosalt,nomac),
    c28 public.encrypted_uuid(aes192,nosalt,mac),
    c29 public.encrypted_uuid(aes192,nosalt,sha256),
    c30 public.encrypted_uuid(aes192,nosalt,nomac),
    c31 public.encrypted_uuid(aes192,nosalt,mac),
    c32 public.encrypted_uuid(aes192,cbc,nosalt,mac),
    c33 public.encrypted_uuid(aes192,nosalt,sha256),
    c34 public.encrypted_uuid(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_uuid(aes256,salt,nomac),
    c36 public.encrypted_uuid(aes256,salt,mac),
    c37 public.encrypted_uuid(aes256,salt,sha256),
    c38 public.encrypted_uuid(aes256,salt,nomac),
    c39 public.encrypted_uuid(aes256,cbc,salt,nomac),
    c40 public.encrypted_uuid(aes256,salt,mac),
    c41 public.encrypted_uuid(aes256,cbc,salt,mac),
    c42 public.encrypted_uuid(aes256,salt,sha256),
    c43 public.encrypted_uuid(aes256,cbc,salt,sha256),
    c44 public.encrypted_uuid(aes256,nosalt,nomac),
    c45 public.encrypted_uuid(aes256,nosalt,mac),
    c46 public.encrypted_uuid(aes256,nosalt,sha256),
    c47 public.encrypted_uuid(aes256,nosalt,nomac),
    c48 public.encrypted_uuid(aes256,nosalt,mac),
    c49 public.encrypted_uuid(aes256,cbc,nosalt,mac),
    c50 public.encrypted_uuid(aes256,nosalt,sha256),
    c51 public.encrypted_uuid(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_uuid(aes256,salt,mac,'key=named')
);


--
-- Name: v_varchar; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.v_varchar (
    c1 public.encrypted_varchar(aes128,salt,nomac),
    c2 public.encrypted_varchar(aes128,salt,mac),
    c3 public.encrypted_varchar(aes128,salt,sha256),
    c4 public.encrypted_varchar(aes128,salt,nomac),
    c5 public.encrypted_varchar(aes128,cbc,salt,nomac),
    c6 public.encrypted_varchar(aes128,salt,mac),
    c7 public.encrypted_varchar(aes128,cbc,salt,mac),
    c8 public.encrypted_varchar(aes128,salt,sha256),
    c9 public.encrypted_varchar(aes128,cbc,salt,sha256),
    c10 public.encrypted_varchar(aes128,nosalt,nomac),
    c11 public.encrypted_varchar(aes128,nosalt,mac),
    c12 public.encrypted_varchar(aes128,nosalt,sha256),
    c13 public.encrypted_varchar(aes128,nosalt,nomac),
    c14 public.encrypted_varchar(aes128,nosalt,mac),
    c15 public.encrypted_varchar(aes128,cbc,nosalt,mac),
    c16 public.encrypted_varchar(aes128,nosalt,sha256),
    c17 public.encrypted_varchar(aes128,cbc,nosalt,sha256),
    c18 public.encrypted_varchar(aes192,salt,nomac),
    c19 public.encrypted_varchar(aes192,salt,mac),
    c20 public.encrypted_varchar(aes192,salt,sha256),
    c21 public.encrypted_varchar(aes192,salt,nomac),
    c22 public.encrypted_varchar(aes192,cbc,salt,nomac),
    c23 public.encrypted_varchar(aes192,salt,mac),
    c24 public.encrypted_varchar(aes192,cbc,salt,mac),
    c25 public.encrypted_varchar(aes192,salt,sha256),
    c26 public.encrypted_varchar(aes192,cbc,salt,sha256),
    c27 public.encrypted_varchar(aes192,nosalt,nomac),
    c28 public.encrypted_varchar(aes192,nosalt,mac),
    c29 public.encrypted_varchar(aes192,nosalt,sha256),
    c30 public.encrypted_varchar(aes192,nosalt,nomac),
    c31 public.encrypted_varchar(aes192,nosalt,mac),
    c32 public.encrypted_varchar(aes192,cbc,nosalt,mac),
    c33 public.encrypted_varchar(aes192,nosalt,sha256),
    c34 public.encrypted_varchar(aes192,cbc,nosalt,sha256),
    c35 public.encrypted_varchar(aes256,salt,nomac),
    c36 public.encrypted_varchar(aes256,salt,mac),
    c37 public.encrypted_varchar(aes256,salt,sha256),
    c38 public.encrypted_varchar(aes256,salt,nomac),
    c39 public.encrypted_varchar(aes256,cbc,salt,nomac),
    c40 public.encrypted_varchar(aes256,salt,mac),
    c41 public.encrypted_varchar(aes256,cbc,salt,mac),
    c42 public.encrypted_varchar(aes256,salt,sha256),
    c43 public.encrypted_varchar(aes256,cbc,salt,sha256),
    c44 public.encrypted_varchar(aes256,nosalt,nomac),
    c45 public.encrypted_varchar(aes256,nosalt,mac),
    c46 public.encrypted_varchar(aes256,nosalt,sha256),
    c47 public.encrypted_varchar(aes256,nosalt,nomac),
    c48 public.encrypted_varchar(aes256,nosalt,mac),
    c49 public.encrypted_varchar(aes256,cbc,nosalt,mac),
    c50 public.encrypted_varchar(aes256,nosalt,sha256),
    c51 public.encrypted_varchar(aes256,cbc,nosalt,sha256),
    c52 public.encrypted_varchar(aes256,salt,mac,'key=named')
);


--
-- Data for Name: v_bool; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_bool (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHggx/9LOPOcx0c+/EoEZjYqTe75v	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym95jjNekMOcvnKEI03Fz268MuWovSJnRvw4YnHhnr+DItEDAh/xB2myc=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym96gujbUS3dlYDaIbRL9C+8tDQyYFvpNmoeg+XZ9kilK/gNmmUA==	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHgg2/4MWlKy7Uslc4CmyC/jIwR+k	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHoyzu92QxOvphZQkionUBA2g94ARJUzS1lQnQlOhhoDKSiSJZkc=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym95g4VsL3ji9VER/U71yp9FBQGsgEQmmZDimDRN3DXNKX/2i7eVYHzws=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9xxdfBMc7eWCevf2T7u4/t1nbYvj9K1eh+M61f9gfHpP0sUhwDjaVKxmkRE7tVn6P9AI3RDqZg9DkQ==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym96hFk7FgXrAnYW+/9yXlEVW4Mh+1f/h8AThrs6Wb2xKsvWqMjg==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9yzdVA0FeiJzS7/aoYNRui4lKGEK7BIuz91s+UlYtLQYEEXPlR80+VsH2XQYEzKdCPRABBa+	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHsQFzHhvVonc4ksVsoix9OydR8Fw9Q==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9xBakFu0EyhvBadkJjP6QZgaOZAtLP4nJxHa	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9yC7gx3kz85OC2v1320tUl6+BaRKGZc=	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHsQFzHhvVonc4ksVsoix9OydR8Fw9Q==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9xBakFu0EyhvBadkJjP6QZgaOZAtLP4nJxHa	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym91QZabRA0dxOkHVd+hcMJFusTa5/eINSR8e73GpC5YKoNipKobE7MBf1	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9yC7gx3kz85OC2v1320tUl6+BaRKGZc=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym92TdmGQJ1E8xrOysHJJu/umTdTmq1H5Un2hhzUNUJzB89FXzCVQ=	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHomjcIKgquMUgC7d09HOc24/mJpW	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9xly46bL1Y4EIP+gVoSf+mhecKVsbAjG91pBTLzJ2RBTciTQ8i+/EjY=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9ylS5chzH5BJWR9OcAikSKFv1ETUwiDCzjdEvylQi8kuj2RpWg==	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHoklBivUNRuXORg8D1gG5VYC+vAf	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHg0JkXzf12+yyDGI8Csh2ZURFc10AswbyFB+btrx25QTjJrfqx0=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9xl5JZMczDla6ayA6s9ueNuh9dMsDE6RXnozcXB28pet9hN8xkBheY8=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym950J3lNRkE92pTTk8eirXmF3N0pik9kjJ5iiMVdtupC+K/8UJ5GEGMVQsGDtxMhzV0q4uI6/pVTA8w==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9ymP3zBtCyvVXigWnscRYb8wUnq1B+O4auB+7l/hA0rImHGvSw==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym960ssHfPCBKxbwp4ZIV2n3tw+BOHD/fxNuxEZpX928UiOOvsmRFWlVvJ7hYACLQbRyIK6lGy	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHkUA+amkb1EcsqJbar8Bk2WAArcGmw==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym95EwH8keG7g8h15zwT7RgMuTsomlU7Z8tIfM	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym96HID48PbFaJZRnXgN4XRXd5GvHd30E=	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHkUA+amkb1EcsqJbar8Bk2WAArcGmw==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym95EwH8keG7g8h15zwT7RgMuTsomlU7Z8tIfM	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym99X6bbwlxbL2gH43aMuoEU9v6WexX61uKU6pRzTepP0qm6qFsmgpvrAV	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym96HID48PbFaJZRnXgN4XRXd5GvHd30E=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9+Xnh3loa2TWeZBi6qaEshyY5sdM92oibxCtzmEk78c1+C+QNd4=	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHorCy0IPUoLlKKchtG61auyP6Hq4	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9xr61IPczGBIjcXWTchVrWd//Iw9uFZMiF3O59gqRO+o7o4/Dx0hh7U=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9yoGEbI90zuEqoT33rQOTGntN+CiW1/yAsiuuRt/6i7vehUtCQ==	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHoqFiAHcPoz5GwLN9w2sMqYeSgST	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHg4h780xVJ9c9+jZHVhf+xk+5Ez+5w+XK7s8wkns+/2GFt0eAqE=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9xpIttXFgCd9KawtQH455+Xr2MX6moVTZ9HOpWYmjJlsKBlxUOjxk0M=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym956tbOQfibhL3B91ftEoa+V5UzjN0GBvKnMRhlJds/PhERZPrdEQHgJfDglahhbDyuwwknGopOsEJQ==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9yrKWJKWKxMNZY3B4WBtmuNGcbiCqrFjhs0t/Fl2U1z1jIm4Pg==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym965fD3gADr3atum2a5u4ej7E3JvhacYNpWS7eUhEtjJmBBLy9VvdN0JwgCVHaJWmj18QiiIP	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHkZ2kvCZSQL81prLszS28ncPYwh7WA==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym95L52Vay7cH1f6AZR7ZUTC9dB3SuBKlcYlLD	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym96Lcllxp5yPtrz+atU0mtTjC39snYHQ=	tde:AWzJ2Of2pbRMPYLh8Km4x9bNiEglSoZRQA6DqTShi0XjHkZ2kvCZSQL81prLszS28ncPYwh7WA==	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym95L52Vay7cH1f6AZR7ZUTC9dB3SuBKlcYlLD	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym99ZQb9PhmplTBlrRwnRouzPPpO06QLpg7LmiNHDawroSXEkx6M1r5jvD	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym96Lcllxp5yPtrz+atU0mtTjC39snYHQ=	tde:AWzJ2Of2pbRMPYLh8Km4x9bN9of23iIxRDy7v3nidOym9+YEiy6iAd0NmZqs3gw3DFRmtXFwZYxM9Jgr2Sf6Mg0V0Jx/6l0=	tde:AWzJ2Of2pbRMPYLh8Km4x9bNKCYEqDptRb+UeoRaFO6W+hqgpqfIl7xfKuFAg0KL5ddQlttknkZzG9owz6GLmWKONl02GTuEQkY=
\.


--
-- Data for Name: v_bpchar; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_bpchar (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHgipZP3ZvYKJgge3EZ03hcGdKvcM/M+tANM=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym95h6lmj0dXCeE65Jw9+SWkS3Omem1yjtvnc7imrpNdHthCpQL83d8X1R99bxLw==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym96hUWczAp8JQ+zWIlz+05boDk08XNYBp9rZ+/3LCkm86Rjwm0GamDIKe	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHgj9/LDt/yjWkNBVnYo7/y/17aaToYI2lr8=	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHozCCj8Xnh0c++AWey4wWpa+DtJw0DkQK96Ijh33KFXmLOAxsCI=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym95jwOtydQtck0GN+Vh0GWfU8kbnKn+7iCO7Q5wiHa7Zt4tbk0Q6y9Htx+YfZhQ==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9xwkq4KbZW7g+h5QkWiiTvjKIa1ow9b0p1Nwt0oVR4MkXyozMRD25IajFOWGkY61AzYEjTMj0kezSA==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym96illFh/UrLdPjssOfPDuxnGc9JF2kEheidqMUN4tbk5qVDj/kB5OEmV	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9yxzGRryj/9G4XOTB22uTG2w1NqgYAW4N+wWlYmBJJfi8VgPvTKOvlRhleZ6RZPcxp+5VaJI	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHsR0+HZ1olRvwtPrhrJnIGdJ3AmQEA==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9xDyJFlwiOV5X+VsRIIbjHKEvfTVlQ5VKiyNuxG2iyI=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9yAkss3x+ixUij/zNeuApznKCX9t4QAO+zAOjg==	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHsR0+HZ1olRvwtPrhrJnIGdJ3AmQEA==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9xDyJFlwiOV5X+VsRIIbjHKEvfTVlQ5VKiyNuxG2iyI=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym91RS6dQWJD+7xUfw2J6vMe+pnsc6sWdPVE73D2oQGyBBS/pWSU9FBfmn	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9yAkss3x+ixUij/zNeuApznKCX9t4QAO+zAOjg==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym92TOq7BQw4Hy2TUIjTHKZCxW4cEZ9Nza3smlqBzt9/qyYQlXrao=	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHommDa6elvXuKcqZ91UnXLu8e+9mEy+8Svg=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9xkdWrNf2q5JHYN27EurDMuNl8d245ZT1llIbwoZtmUqpobjOM4wBNb0uQNWJg==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9ynYs4M01yKI6oYqSjIJMWv3eYisBD+GfYQ06S5aNes/Fj555YyNXZPJ	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHok7EUjemIzr2AIC3nob+Z9Hr3Jf5NgkjWU=	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHg1omxdrb1t8NwLU9vGWy6GsfUatRp+HzdbTFV4zQsRycGcQH/E=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9xkatbiua6UnMb9wBuFFvSbXwdgKBC7F637JOj4dba1dVI7uRDYS+2aOqy3A7g==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym952l8ag2DvEPp5yDQMn2bNbB18UvTmDc69BSaC+yB1DLpmmtbC0xWpakKdWfWrm+HHfInj7koQTeng==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9ylFF5VZFestvS6BC7IptXBPuhD3K/Gwl2wcULJp708T8yRrQysSy4Uy	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym962O4ZSrAf9WIqMwUp/3UvF5MnZhbwIIJkdMCskqa7IKnz6YgLCjuR4J4sxiE2q3e/Nmzac8	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHkXw6GYWhv/IrjWi35v2kOCR1q/K7Q==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym95FjD9CARaZY9kmNxZGiBV79BbswNqMOmyrK3vN456k=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym96HtBqVH7VCwwkPGD24p8vOozSiGSAk3e6zDCQ==	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHkXw6GYWhv/IrjWi35v2kOCR1q/K7Q==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym95FjD9CARaZY9kmNxZGiBV79BbswNqMOmyrK3vN456k=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym99UcflTvm1w1140jLckaVw0RmHYcxTy3S2EGElL20U1rOT7B6NZTIDLO	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym96HtBqVH7VCwwkPGD24p8vOozSiGSAk3e6zDCQ==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9+XSlHbhMDoDf4O/QE53RjIcTeCbfJaydi72NdjdAxTJ2pm48S8=	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHopDo5ukZDjL7hfWNNp52yY4cdnHKGUhoxE=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9xrc43LJGk5lSrvJc0f4r9bzYsGS2LCm92hiKGb1ZMJvZYnJ+/FQ36Q9Ysoqsg==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9yri8UZQX2Z9cRX3WlbHKQ2IE1O4Kqji7ib2gAq2+iVIHm9RZQNQVbmH	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHop5NVBVjmMWNhI0A3XBSBO0qC2pBGeXpXI=	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHg6YIPtBm4fgysgngvfGFELN62iCOlbILsZb5gGA3GmITGAQ08M=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9xovOYNgal1w52LE0ZQfxdIB6qSVUHXf/cXHDgUoneydgxOXoy12kSiCJbZWjg==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym957tJh59KvMXud3+vIZncsP300U9PcCtNU70DVQGnp5MzWDD66WWG4EbN/snBqveJAbUc5LU9T4VLw==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9yot0gcEDCSR7dWwN3m+qbvVvbPvGzE3WPXrTMVZUbjrOBFq5J6R4qjN	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym966Q633nF4Lo7VNoBNN5mDVTD/gmjfGZA44riMOuTPCPzrOP2yEvNVZMr5U+CbZuL93LP9BH	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHkaITd7kXuhBGLBGk3pAKllSyBdOoA==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym95LIASyvsmyLceUSzMMBj+rOE5fmB2XrVRYkjTnrXCw=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym96IM0mhoJ/bPfHZogglIgSIzn+baawhSs2XCLg==	tde:AWziDJpNXztLbooXIcjZ8LOJiEglSoZRQA6DqTShi0XjHkaITd7kXuhBGLBGk3pAKllSyBdOoA==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym95LIASyvsmyLceUSzMMBj+rOE5fmB2XrVRYkjTnrXCw=	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym99a347QXDdACVBlrdwLO/RU7y9BTGFAEzMiLivFHjaFvzkwXeMbQIK5L	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym96IM0mhoJ/bPfHZogglIgSIzn+baawhSs2XCLg==	tde:AWziDJpNXztLbooXIcjZ8LOJ9of23iIxRDy7v3nidOym9+bZMCMexPNGc5u0mOyAoG/EcWKRsE2EhaSJDmwAxde+fcY5G7Y=	tde:AWziDJpNXztLbooXIcjZ8LOJKCYEqDptRb+UeoRaFO6W+hqw5ioWpGZTxlO8nsmvDYsC4vCp+5PWVCGgU9dn/GBgdUALzmD3vYAJOv2uVQ==
\.


--
-- Data for Name: v_bytea; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_bytea (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHgg9WfFuZRLnNQSzUUzrzt8TexH5nes=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym95gq9WAvTKp+SP5n/kkZAeEwmj1RwMUrjtEGpNn+LaV933Y60FPxdrI9aw==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym96gROGg2rl776rdWhc+CgsXydmX3JaHR+Ud6fJdRw/9Jojgl0Epw	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHgi8B8YVTr+AOHmYhqktg5TOvygJIck=	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHoxERyv9Gc8oY0JVV44qY/NKzliPvcGPBfbef4ZoZsD8iOeXyQI=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym95hR4WIkVocjKzrJKbwzfYHc6O5IqTXPxWvmatIPCaZAsVtgsH0S6mDg7Q==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9xzv5q9ZZOUL3CQA86L4Gfgsestb71CyPlqm3aBw+1lBvvnR9ezI0vQT2+Hauhg91rNBAExi77ABUQ==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym96hbqHN61zV+9jOy7L2lRa8GiGxEmpVlmiE3H4TGXMj7pGge+2Ef	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9ywy0TRqs0JN3TQOIRJNCrnmNkqWKdjn01zv/Q0dJBf7gbURY31dEmNMB/upl2bvujJdezJN	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHsReNVLX/2Zdms2t37QJ5C9wH6JqSg==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9xAnhGLzY0PszqQWCJNCWQca+vuDUb/LxMWy8k8=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9yBBIQmWQxlG7fPxpALmGlRNrNXIQBWd+A==	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHsReNVLX/2Zdms2t37QJ5C9wH6JqSg==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9xAnhGLzY0PszqQWCJNCWQca+vuDUb/LxMWy8k8=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym91S+0nLvF7wDM5YWgwRkzV6s5ssbq7GRn6p4puBGBhVhUv9NNsrbAbR5	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9yBBIQmWQxlG7fPxpALmGlRNrNXIQBWd+A==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym92SXzKZlbFviidEZnSor/uPl0hC9RoOeUmpZTSpjDTThecydQRg=	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHonF58k+PZmoKySg8bpy9knF4seBOPc=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9xnzVwkzB28x2jhQZmWrp3nXpk/G0K+KujN7iTzw2jIUY42WPRw3uxN4fg==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9ym80zBjtOZY/D0013k1OD3HxnpWml1+aZTb6N1HvpaKApgzD+Ru	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHolB8qWJoQ1Hj4TsbJ0XzsTAIVFPhLQ=	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHg0+4O4FC1ZdX9538sdw2wgf9/J1a9j3yc46k0AYlP6p/jR8unk=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9xklBmR1Z27PCljtwlnwSgU+L8d+Rldz4kAAItkz2s7iFISjiZSIqPYzEQ==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9502SRizOBP+tbc8AHuZ4qiGHmWQx8iZN/BOy5Fw+tkChE6kileP6dsB68uH30EMFi8xHxbU7d0JeA==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9ylT2Hw8oeSwQfVpQ2SrlXpwBD51NYIDPYLLsaRDy58ZiTNp1Jkq	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym961SykjRN1Cjxz3IdCEwH9UAnx6skcKlG+tMs++kTgRgiotUP5kJTlsGKtRMMtGSkOl7LqPO	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHkVnVol9ZpAfbLWZpIAjSUCjW55O5A==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym95EVItj1vFGlGP3XHulFji3BvpebGbqsXcdWLbQ=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym96Fne8Cg/jnVkv9qUVqh6/Fiq9j3ChzWFg==	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHkVnVol9ZpAfbLWZpIAjSUCjW55O5A==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym95EVItj1vFGlGP3XHulFji3BvpebGbqsXcdWLbQ=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym99WVFPS+azUWwZC98kUqArqNdka87sU8Hks/ZYpLr/3RttO/Z9FQs0Uv	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym96Fne8Cg/jnVkv9qUVqh6/Fiq9j3ChzWFg==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9+VF18JNAcJLvBgnA5DnhL9x8UdW2ZO0xWvncODw29Ez3UuROa0=	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHorbnXfuWfe81fE4EFgNPo9OjHW2hDQ=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9xrR6SPJQTOu9TGx2qQJVP5oa1k6D/uJr8b7TQxah2OHviN50PQEGD3E6g==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9yrUFeml1iCkbF8mjSazv/nanCbnwpx7kDhWeCVlxlqzZflcoCWU	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHoqHG3L5T/SuLirXHrhxVknsh0lmRk8=	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHg7Ud/yZn/0dau/OxlmWQT1rKgZg/ktcIZ2gtMDejMgcTeNuntk=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9xr3oHufks5wVI1G5zH+nALOBrn0JFGT0ZdjohIcGkioIxmkrBmxVwHmTg==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym956bOz1U4VgBDkZtn0w3dhaSG/fDRemvIKt3F74pMgoO4pxYIvJpyZ8UiqM7tSpCWZV7B2c6mo7MaA==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9yoe4ViEgQ5jVP8cs6wfkDOulk11obUKJd/aLmttY2wjzYnNh99d	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym966HYwlCUC0PmwQL2FUHKNgGF9tCQLdnY+JzAb4gKVKMn4Xqh9d2MXH+UFx3fvyyk3yqhJHo	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHkbFQs8k9A3uvUsOXRYTJaZTbABzIA==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym95IRe6/++ABTn7TMawaGCxkChw+HeSRgomFMxak=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym96IlCrushuUlTeZ6PZfTgYtamFjACFthdg==	tde:AWxaSzwtn45NfLalTz4tHAt4iEglSoZRQA6DqTShi0XjHkbFQs8k9A3uvUsOXRYTJaZTbABzIA==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym95IRe6/++ABTn7TMawaGCxkChw+HeSRgomFMxak=	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym99ZPr8N4zLN7Nv3v1H8PCmJHhFxN6eulD8OWzPsDlRauCVRUpvYRr1x8	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym96IlCrushuUlTeZ6PZfTgYtamFjACFthdg==	tde:AWxaSzwtn45NfLalTz4tHAt49of23iIxRDy7v3nidOym9+b5Tb391wOWvaqTOU/vO4Mu6nDIoevyzcNHHrodO+0A46vbWFE=	tde:AWxaSzwtn45NfLalTz4tHAt4KCYEqDptRb+UeoRaFO6W+hqBS/KRAGaUVrhdIPGueciOflKWYpz4G45Q+E1GXKwAQ6mQSJMrwM/2qA==
\.


--
-- Data for Name: v_date; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_date (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHgjgalKa9fMM3PLgv+O5+8oh9DWuq/d5	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym95jT6zUWmolPQmX44WEOPz+/IJpyOYiXQ/hbKSiFyCH0UyoLWgaq18Y/ltM=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym96i1gDz3G7lnhYGWge4NhcfdIDXNQk6PyKpTMA34ctp6mLuBmoV6Og==	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHgiBP6WYlhSxYgNmhumS0ILprUl0g14I	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHowuV9HGWxMl/7CEGSWKFClZMCdQCeqQS8m2/L/Vsxdnre6wel8=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym95hy62lfru4HxMRQAHvD/2VjQ9izC+EZTd8Mhn/VqtBSIPm1U44670AKD+E=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9xwH1lGm4wCUAAPdkcYxSgH+gJnQmUat2FAqJ7KjcJ6Vgc8+k7ENJ0EjFKeVevnaKJDpyH3YMH6bWQ==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym96hoKMGeMUvl6CCvnhL8jqHAJS8D2tAUrWulI0AjlbYEL17VuwMhGw==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9yzB8k7OySFxH6rBB3MzixDRxFVehfilU0WrFx7hYC8kmp4S/Z1qt+TYmbHwHVyIdToKJqUD	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHsS7bb7+HyqrbUHZPB4WQQNC6tR1pQ==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9xDIrVQT+gjSedkoDngxOBoVO+ItVpC0rPAWBqnb	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9yDAx97T7Ka9Knufmd8ED2AL+dphky9WFvs=	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHsS7bb7+HyqrbUHZPB4WQQNC6tR1pQ==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9xDIrVQT+gjSedkoDngxOBoVO+ItVpC0rPAWBqnb	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym91QEisorPoDRibiP7kSk+R6JxdWCwhe43G6wQSCw8wb6Zfmhc6kq/Teg	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9yDAx97T7Ka9Knufmd8ED2AL+dphky9WFvs=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym92SBttIOc30SYreIcvAswDJWT0b3eZxsSr80ZBdUU+kh4Q+Js5A=	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHonqls7dskgrSNLsyNAfKoSRyckLp5YK	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9xkZJkG/Q/uxUcZL5fgBIVE5VJsh6xhQeI43WVdhjNpjQ7I2NKu1sRktSAk=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9ynY5wSk5gYVN7bK0w54cs0GxeUqta8RQ2q2wNMLygGC1L0ULgiP4w==	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHonjGNyA+whVEePj7dHz2dKOjye5baVw	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHg1o+WclMdq4BviKYnQ799Br5q5sn5xmpBJElEq8DMbhLbxfQoo=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9xkQ1jzSNUBxPwlQzM+IS6RysvcftmkeYtwo51nDHV5UeajLx0JWKSN+Qrk=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym952WvIZazbcyDJq6V6mUK92w7sSwGOXqIUQxicuPEgCQ4S1lhqCvr8DgOJyj8oKbQe1Xi2GlHc/iNw==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9ymc0edt4gs/FThfDhb9iJb0hk8uVDxY+/DGgYxgCYC4k449GEwhDg==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym963TApyvns7EVZL969CoWY3AI+NsO5IcrTA3r8bRUlZzoExfw9vNeXdeB1ickhT4aC2E3MnM	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHkXXkEXrbH+xH6GNEmg5mI0e8gPIgg==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym95HOsxPXp2fwcdAKxZOE1UsdHIMGzV0zQeWEiw+q	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym96HIKWcYBDnGhtjNcW9eRob0koRCytQws+s=	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHkXXkEXrbH+xH6GNEmg5mI0e8gPIgg==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym95HOsxPXp2fwcdAKxZOE1UsdHIMGzV0zQeWEiw+q	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym99UL2YRoJpwxficGfyumXpnI+TacYwNmSj0H++lWYVYg5QPdwSpRcIsz	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym96HIKWcYBDnGhtjNcW9eRob0koRCytQws+s=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9+VxhPxPLSw8JpQuZ4qCGi/TIPLYHY6uEHkgVjCMz7sp/jNpyzE=	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHor/sTs9A2YGx7SgNEIgayo463iOJTQK	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9xrlvTjil9PvQSyNmDTI3S5X1Bkv++JvBM2CUWfX27Vdnkp6xZrt/PQYY9Y=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9yq91RvzLpN3RpT/JtmCtXGztVv1K/Xcd2BW6D5S/wgFG0jnYNUpzg==	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHoo0Ex7Jjteq268JfEZmye+xbWVncdKz	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHg625tTJERKJFTXuUiyjKODFOyFGUdQYRmUL+BO4yoPuhqryLvs=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9xpWFLzIWvp51BD0lIFxooqrUntwjKPGZYD2taRNcivnetwkYmVcKUSxuzc=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym956nysUdOcLNStCkUAVuqzd7xZ2y6Sb/Tg/pXzf1rGJiM5bEgdw3snsSz/edIyk6hbCuEhAa6TF/VA==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9yo+PnBHjwy5MczRsPbF9q8TlA9fsaINZrJoWL+9TJjl/4o4rhB/xg==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym965e1dMvc6GjjqZZEyVmvJJk9i4XJZDWOpa0e+G/9EyJcqDxdSVztHPGZ67UWj1WTV7nMXIL	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHkaoJjN+YcfTQsFmcA3G0D8U15jv2Q==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym95JFAizV2we3rxN/RbDcdB+yxfAXeJhgvuMjhvfF	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym96JN7xMsIzSYD6b05QsEQbFgzdutEdjbyXs=	tde:AWxHptLojxtOnKfTa1xKPy5WiEglSoZRQA6DqTShi0XjHkaoJjN+YcfTQsFmcA3G0D8U15jv2Q==	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym95JFAizV2we3rxN/RbDcdB+yxfAXeJhgvuMjhvfF	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym99bgYi2Bu+4SB+bVg0vfOcY9a2x/Qj52UT4fNiH9VU3MeVmJLLbnwMRr	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym96JN7xMsIzSYD6b05QsEQbFgzdutEdjbyXs=	tde:AWxHptLojxtOnKfTa1xKPy5W9of23iIxRDy7v3nidOym9+a6ho2TuCBaQpI3MsBh89JaIhpVMc94F9uCoxvhdZbgqyqniiY=	tde:AWxHptLojxtOnKfTa1xKPy5WKCYEqDptRb+UeoRaFO6W+hrpf7RLgkClTj+vYM4Sb/t6WZSx9zo4x/6oanJnvZ/P/II2GQB0pNiwIok=
\.


--
-- Data for Name: v_float4; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_float4 (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHghEuLTZP/LH8coFLlgF+gSVljuezNFM	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym95j99ByFrYXDj4NmtVBR8SDkpRy49SUKvI6AO1/MfEYygrTINKJCKbD0G78=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym96i7QSWrCyqlcxWaEyOKt0JAcSCU0U9CM3aeywclGcAk4wnerpi/Gw==	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHgjWr1+zzXOcipMy/13E8Afd60b6ILup	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHozH4qQoXCcnQqeDOWKdIA++UbXV+Kn378oVqnRwUkzlagtc0JQ=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym95jrhKnN1l9nEO/qWYn/elZ2TDzWH7aMrRIZPK8U8JJ52NX8zfTbfqlI2FM=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9xxrEWgs+Hk+9o751HxmhD5WQw5iQiOFgBwAGc/cW4oRnMXSmLUrp13I85ko6XXfYl4bEePsr4s4fw==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym96h4mbpgfitf2cVah40IIXYWGzx8IWmy+BVAvrsCWALt8r2xTfVA9A==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9yyWYr5eVXJISH81cABqQ927rNn3ik/Rm46WE1PEg1ndLEmHNu/mwPRgKG6eUnaxa9FaitBV	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHsQ4rXJOm/ArAbPBD3npFvdMJg6XsA==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9xCnJ6rdLTGGqZaY8HLSUs4P+Ui8pPk9Z4ojj0jh	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9yB7+AsRnj4og2NhnqKjElXRCEHpzoIvIGM=	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHsQ4rXJOm/ArAbPBD3npFvdMJg6XsA==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9xCnJ6rdLTGGqZaY8HLSUs4P+Ui8pPk9Z4ojj0jh	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym91Qfw1wO0ldb99YojhxdYgKFX66cITy2OPEL6zyaZJQpGDxPfPce8jfH	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9yB7+AsRnj4og2NhnqKjElXRCEHpzoIvIGM=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym92S2W8LYfUQXHlR1dTLviJHzm/XhYJgYKsggkXxrge0fH1ivED8=	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHonQq6PO1+ryvULjn67JppRSfMHo4ld/	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9xlNaeS/3W4yQkBWYBp6RxvpfNk3sc5UOzYOpL5uohF2qnaALaXOaxZV1DA=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9ylOE4RVCjgGuqahEdXZwfIUBX//U3P3e8qIK3OA/72Ol4tsTKaTmg==	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHomqL+LsRVJErpIme1/FpzrRDBtaKdVU	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHg03o7Wv4Vni3emaCzL8y7PDUgjSuZg9ZUWAe7IklOe88zkvdrU=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9xmY73D/QfYNMfsQYLJXV0CLXZnlmHdblVJ9GaYi3N6keglKJooT+7kH3kk=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym950ie1JOzmlVVijB+wFKxVJfipCVD4aIlju3h6TUI0DpoDkOuK+VW+n80WUuUG/t0t2FsnENLxJA5A==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9ymrMLVUhxVH/+KCQoJYeqBa4yt9OXTQ2pmxP9PhLBwzMPz84/3j3Q==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym960/RrFucmd4dujtZs5N9gr2I+VBXNgEvidHqunDsO8iEd4cbnrFCtKckJFJoJJgpxgAS62l	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHkW6/7oxSXJBe9jjSAP748FrbzGDrA==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym95EYkd4OGP1jX9Q1WqBc2B4lCgnv5pDlhgf9hGGV	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym96HmwArfViluDzzvOspwrMHHUi16rMvrw3c=	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHkW6/7oxSXJBe9jjSAP748FrbzGDrA==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym95EYkd4OGP1jX9Q1WqBc2B4lCgnv5pDlhgf9hGGV	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym99WaGL38U0wY9rHqOZtMwa7/umJzY8ZijevVtEB/2uTlVrb7LCQjIZzt	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym96HmwArfViluDzzvOspwrMHHUi16rMvrw3c=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9+XAsCwoSoa2EJ9cukjNATmEi8ShPCTotUcoSI2Qyo6u+QJtEPs=	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHoo/D9D5GL+uGLKYyozlqzJ/LR7EHt33	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9xrb85btJnt1bTyYom2f//er3Niu3AxPAghvt2bSmkctI3mbP3aL79fBR/Q=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9yql9p/JdfyBzyVmQUVoY6Yxca6TpnW2LUeeUGeJKYvdjSoEY3hEfA==	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHoqg9ZpWJpmnGdjAuqdNiju/pvnhZuhP	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHg6f290jZ8kGSrJvzFKsLZMrl63TP7qz9Jdr1iudEpqA+TUiJ/w=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9xrTcomYE/2HqMzzh3nqNBGXzTPx8D6BnPWhxZsnZ7xz1B8YTLCZ+99fGpI=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym955fwUMAqEZluFLK919thTi/Y7R6JH5bFRpRl6Pr6DfnLhydwgcYZBYwxU12EFA5LyqLdRE8pju0CQ==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9yomZ/SyaEPh3ngDNkoXS1JpI4OUwQLlKgHsMaIlW+yM6F7xxY0Nnw==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9665Dj0RZ4Wx92XK1hN+b344n/Wku7WFITw2mpo6qliX+ElehnNXowtndE5DfQFhn3VKcd84	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHkbtcCrb1rZNTFN0vj5g6vaf4nbssg==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym95K7+KgYRidzDWR79iJozzZkF86lylEQVmh34BoE	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym96Kd+S6uncD5aR7SvQwTIE76ADGHJR2v1I4=	tde:AWw8XX6fChtMLZ4/SltsfY6riEglSoZRQA6DqTShi0XjHkbtcCrb1rZNTFN0vj5g6vaf4nbssg==	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym95K7+KgYRidzDWR79iJozzZkF86lylEQVmh34BoE	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym99YWXMw9+xMiJnLXrfzsd/o7ilkn1pjLU+3kZev321UPdH2JCkHeDvc0	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym96Kd+S6uncD5aR7SvQwTIE76ADGHJR2v1I4=	tde:AWw8XX6fChtMLZ4/SltsfY6r9of23iIxRDy7v3nidOym9+bEKxJ/CnTAvYbsSeQQCetyXiKKoEhk8BuYf0vBb+f1BS/KUWQ=	tde:AWw8XX6fChtMLZ4/SltsfY6rKCYEqDptRb+UeoRaFO6W+hqxzUldzW0HywWPa2xSVOpQrzaSTVd+Dx5W9dtN/dLUtq6r75iVDN0g/Vk=
\.


--
-- Data for Name: v_float8; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_float8 (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHgj6x4JyfFELl3aCjT72m9I8QjFIc0ogWjxCDw==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym95i0UmvmQCzIDRNuVcvV5eO43mrjOVZ2Rc9UG9z79/hQL9ogXELaktp4xl0HO1Ov	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym96j4IWUdCdJdTTRJNtUMAtBCi/BtDESmLwEJ9bB9ebafkUwrREHyy641fzE=	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHghKd+3k7JO2tYl/+TBCBXR3M1b6W13LRRZxig==	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHozZSsqaqnjoq5QO4Zovo835zaR+2hHOVbIwBVVBbP2PTriAUGo=	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym95iNcyp22iJEKIDwT5GaZzQUImL9fWAV2fPvTo3p4n7NTVmzLRIrjq/n1dKx1GjE	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9xxooMUds3ey/RY79VzLntaJiwYmZMEFNGzhpvYWeLqMASUyJKDSgjQjahF7DYMd8w0Q1krEC06STg==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym96hbfwO3Iax13yc45xYsbmYTpMdd7Nl5hy8ihQnh3Hx4NpNUY+9YyrShAbc=	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9ywbUHvmdBJnrZz3WNBtde+ivA+dqHLsJFbYgjtdBwzR0GJbHSW9UK9Z2vpUOpGYXz2+ISkL	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHsSK0hmyDLyKfWDGwOuNBs3UQyUXrg==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9xB2DPonH/wnXOjBeBdS9etC1yP+vSVG++mXGFrujcLiVg==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9yCq5uJNKn4xMY9tVWAOWvkDhR9qfuCGhR72MurG	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHsSK0hmyDLyKfWDGwOuNBs3UQyUXrg==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9xB2DPonH/wnXOjBeBdS9etC1yP+vSVG++mXGFrujcLiVg==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym91ROqQ7iUXkoUngJ0Eho103LQfEDfQO6dYnOdj+HZQHebLQWOhVUnhBz	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9yCq5uJNKn4xMY9tVWAOWvkDhR9qfuCGhR72MurG	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym92Tli78n4rC1yrnhMWluZb9EUDdeoG//+vlLUsgeIDgXH8ya0Lg=	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHolKFxUiMc87wYXzuj6Nd6ZVtoXtJphzydNm+g==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9xn0weAPzTlJpL7UJDwKXvIN4YDltlIQJto08kPNEPCZJov3okoKjsvt7NWA6hwZ	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9ylJGLlQIRfHPfaRueMCMVAy7Frnht+NhGFS1yiTr7ZXiZOvQ/WsfuEX4mI=	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHonIio6chnIzuKG5wgAEY9BbbQPRdEuog4QmwQ==	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHg2Y+8MHRbkCPYoOwPMvwyW45zKsryC5L8MhrcCznKBXfGZ26JU=	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9xmRybErD6nNFIVoKIgUZTKoWLQ+QONG5AhUbkABsLuy8CwvuWKbJHFTspeX4ajI	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym950czCzBfy4FcFTgGPKUGD+aMZQ0BtSo42rrHb/wB8Ta2eY+2yj0nEGBCa0/y16Sc7PCwKIbjDwlag==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9ymaBpILM0xHz0JpfvR5qJ1dKnNInkYgoIs6z0Prh/JEy7NRwVwzU4LPo+A=	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9601Sq02/cSlrFzz2gZZfeiZ9WmEVZNpn9vBGqSRobGKH1ZHTMWh0yhC2aJ2+erQ0opsFsmT	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHkUd8awbJ9yWMf1821Pit9sBqXX7Aw==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym95H+Fn9XhF/9vidk9Cd4uA/gc2x9sMea+ZZdt6pv792hnA==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym96GbF1hXWpN9nmrSLMMnFZqPyHf5OVa7lTljDYE3	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHkUd8awbJ9yWMf1821Pit9sBqXX7Aw==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym95H+Fn9XhF/9vidk9Cd4uA/gc2x9sMea+ZZdt6pv792hnA==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym99WLP3DZnFfKgIJ+PLlA3lRWhSV0Tf/+E542ikhHKKO6L2MZ/Q6BBg5b	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym96GbF1hXWpN9nmrSLMMnFZqPyHf5OVa7lTljDYE3	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9+UBjn8bm+xVGe+NF5evLNM+4lKIn7VidaPFncv1iHBEzKSyXIQ=	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHoooxr5HWrhCy9arlVwO3Y4lJ/q3rI5Gy3ixIA==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9xpURVVKsS5hrUqQ+A2gWwqoEaXhGlogA4e/07NbX9I0i5ov4vSi53umSH2/a1Mw	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9yoOaYukZtf/XVE2+QHeJ/IU8TorYZ37p4nQdO8f7Rd101a65itGVVE8U2c=	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHopsefrrH75kwOjM7kN7LytRQGB+Zz7bV25LEA==	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHg7HoKXFJAZ3rtvBHAcWC5/fFNdiDcVyvD6QbRZNuZM/jLZmmAk=	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9xopUAMzK8LyRL+3U1Ggj3k7+fEChusg6bSWPLC1eb89q7AkCyDyj2EYD1ihtKrV	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym956ASXy8uVJh3TdWgdrCl7KTtOeT9i0lkuF11Iu/LX/EAsvMo4iwoLUz7We4QETV5C0K+XqWZZ7iJw==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9yoXT3kpD/RvYxCFwhV4QjVqEAJPG/vFs1rnqbXHDE9Ab9thG3tzOGiqNDM=	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym965uIGds6NyK9XdV41iwiLE3jDi+vovR8BtKUKYxuTdaJ5dkWO3awRZ2vrBGzwMkY3U9naRx	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHkbvTZmaaHIF1j9j15n5gepukvZTlg==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym95LBYnVeec92tFCAP3LMo69yGGEjIAwWtX5bXwAcwGWSAQ==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym96J2z5zHQoCfV7gb3UzxCN+g3RE0+m/80IxXAZ4S	tde:AWyEpsjgGz1PWqe5wdPl9wm8iEglSoZRQA6DqTShi0XjHkbvTZmaaHIF1j9j15n5gepukvZTlg==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym95LBYnVeec92tFCAP3LMo69yGGEjIAwWtX5bXwAcwGWSAQ==	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym99atYuUbqg9r0kJvx5qx59j/Th98vaTK3uOWcS96Qkgk9FJHvDO1lBhl	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym96J2z5zHQoCfV7gb3UzxCN+g3RE0+m/80IxXAZ4S	tde:AWyEpsjgGz1PWqe5wdPl9wm89of23iIxRDy7v3nidOym9+bOQOcAywbizP+IbAXW1uR58wO5JLUP1kpVerfE+QC0j6YdpzM=	tde:AWyEpsjgGz1PWqe5wdPl9wm8KCYEqDptRb+UeoRaFO6W+hpwIhRSOCtS9LWNIR4hodVmbI/JFuTHQVmkLA3b+nxbfpjInk8ZwYXI6cSPfWJe
\.


--
-- Data for Name: v_inet; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_inet (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37) FROM stdin;
tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym95hG+uaF23Abf4yKdTIfeTT0NQ5xj8SvpLq7FicRgqbIaBk4SqOzeaeCFGIDzA==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym96jV27Gdo0KR9GJe4ycok8cR27ykeD4i8mPMhTwAu/VKpZuMfSoeghot	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym95g7GkAUjGyMHIbxknfaB6kBrzI8Ewf+zVm8v2WbThTMyJ5VmJo54DHlSFdi5w==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9xxMEfq3u38p+2savdqZD9cCGmpmgiYOcY6n2UZYmeG9faxgxdP2A6Zm+vU3Mso7vK4DlbVuN5BaPA==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym96jkfueEX/ghzCrvU2w+c+u6mSaWZIA2+W5L7h60SMXCzEBj0idAG2NR	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9yylgdw7H8e1uS7qgw6EiONhNCEAgNbDBhMjaOKHau+e8WJibHzQXl3YiYSxU5ntdprM43RA	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9xD0OXGxpYtfHG4hCZzoWnU8CUqWmy+959dSF6RZ9MY=	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9yDMUCvgwZve4VrUvZ2gXtk53kKw/JhR8hx50Q==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9xD0OXGxpYtfHG4hCZzoWnU8CUqWmy+959dSF6RZ9MY=	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym91S3JYqYR+D34DsKTRRLvUrWm4JQHBJSWbadMgLbetP5JnzgBamLgXZ0	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9yDMUCvgwZve4VrUvZ2gXtk53kKw/JhR8hx50Q==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym92Q9VOL9ZAIDxqhpLmo51M8MqBs+UHRkNJFgxBEOxe5EzpFehZQ=	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9xmA3XMeRptZEnRmTkPjUvWe4O8/+KjaxzV1wxPmY+eWMlWRBZcHFGALsSKoUQ==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9ymTaYKuJxW/hwZktlGTtjZf6EWu4qYads0RVsnGo3XlL0q6EFL4tiuF	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9xkV7j0GUyMW8zIVe2eah7LLHASX2mguvXUBFrHCc1DZ4PZoD6iW9EUA6CgtIg==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym950nIHHI54arEnMzPIoLIVtbSCaH00gzqx2CWFbSg1jF2GBPPFwNgrwS3GbJ+qo4A1wUhuE2Sbrgjg==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9ykcNXrIBRwXva2DtjuqzEv4jqIVZcJWqFSOrtECs96/5uqNcoDrW0yR	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym963XGMRoV46U8fybH7Mk1OJQdZ8jBXtL4oT+F90i2c23uo5IJxUQoYdQRUiGRwlj6d9ekMPd	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym95Hj1DkUXokek+x2jFzZpqzoCeehjf9j915yRJBkAXs=	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym96EKGQLI6TQOEutQEXpKnvvkr3I77PH/ttWzyQ==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym95Hj1DkUXokek+x2jFzZpqzoCeehjf9j915yRJBkAXs=	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym99WUTokriCJIUTxzKhlJ7qNOrzjetvkFAt8fiWghe3R83NRBA0MN7q81	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym96EKGQLI6TQOEutQEXpKnvvkr3I77PH/ttWzyQ==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9+Wz8DuS/WxoL6139HpQh5wSvYE/Zci44xlZOpKpm/btH8OSnB0=	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9xo+3RIELzqjplLXJrfvMxG256//OfLDk6hVbeEbP16dCzTSQGa92zYd/Hgk1Q==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9ypDGyAA5TtU1LgpfoPYv7zBY9v5Zj/nhhpakpCxM2yEAMTBuKdSXOw5	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9xoead2OjhXlPNIh+hP0F+lfx6S+JZ09EuvxxhK54pPxK+i+v9G9MKuFa3jBew==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9569ivrG6c+yRzUICrRYZu+o3gKbR0EnX1Zdq3So9Oyjb2HezXvQYBdSmEHEjz92R77PvQGD6KYRKQ==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9yrhEsOCG6xSgqZVOPlqOXUyHkjHDHTXBI0TeEJVX3cDkEyC0qqbew5H	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym964tltlJd8h8pPsTpDO40sp4YD3nPdoo6a6mGx74zEWbtZC8y2oiAUiTMM5wn8qscGWjI8Md	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym95J46bZGF9GKy/Gir3CUWMQthtrcL3WFohL09n2oNwQ=	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym96KsKWp7657AwRcf0F0yF4HXJQoD6ParYmrLqw==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym95J46bZGF9GKy/Gir3CUWMQthtrcL3WFohL09n2oNwQ=	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym99aPNAiy5D5+t/YF5N2WI33+3PnJdTBH+GYxIxFuaBmIfHb2gjOVv+H+	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym96KsKWp7657AwRcf0F0yF4HXJQoD6ParYmrLqw==	tde:AWzUw7Kh8OlI14bFtKOSgX9W9of23iIxRDy7v3nidOym9+Y8kzyZ6dk/2o+Uq4MnDUr74DqcfrwjSODNp3rtSrzpyBFfIl0=	tde:AWzUw7Kh8OlI14bFtKOSgX9WKCYEqDptRb+UeoRaFO6W+hokMfz9m8v335P1+5bxa77LmBUxDsOpLbTf91+6m3edrSLR3FiKr0AI0mytpw==
\.


--
-- Data for Name: v_int2; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_int2 (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHgh309XGN5J0rX5wLu9bwJU22S7Jdw==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym95iMYr4c1c+aNc9Yqax8uJX6YeDS7ZQH4AglLfcuRVXo9bHTh/HQiQXY	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym96gKEB+HUPIW+lRTLMyZnrbkAGbqeUhX5ZfSfW00QQ9GZ8PdR70=	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHgiTFLZH73ZjedjempcvuQF8ca1CAg==	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHoxfxPO0tNeh9axI1VEzieTPhVBSqIa/OjTEnxc6Hpl5MhMCbi4=	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym95gjGNHDGptdpoUwACODzwdQG6n8Emwn99WFAZzEpMb62qnZ9qPWr+pR	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9xzrR04h91O0O8wMLMY1quU8W5TBFpRfg/b+RE4ZnFq2ZCiwgtXP4DDTViHfXNuMDO+ziW2fE57ebQ==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym96gxkrT240jj84M4/JaObQxiHdeG+pJoNee+ANKiUXMpnFTeJLA=	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9ywppr2SEKLMcFOkD3b2Qlhe1wFHZWwt2GvflBc+Dhv+rkucC9BNNeF2MXxOJpI0kCj0EArJ	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHsQSHU8bnaF55b5/i8SXeBQEbXQE0Q==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9xBOiilgq4JjsM4Ud+jrOom971NbWx92EZKDDA==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9yDVpmnn6zKu8BxNZyq4gSU2QXV7qiOL	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHsQSHU8bnaF55b5/i8SXeBQEbXQE0Q==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9xBOiilgq4JjsM4Ud+jrOom971NbWx92EZKDDA==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym91QgqWGiqO7mbHhWNoqqA8JIkgHOnMIOUqVDuS+JqmpP0OWFtUeEiMSq	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9yDVpmnn6zKu8BxNZyq4gSU2QXV7qiOL	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym92TURTPmD402IVFF+iWZXesD55saK1xWPGV24CiFeUK8Qdbl0UI=	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHolPByl7+2Hm88Bql8fp5Gh144UGcg==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9xkvBk5jhrukHWb5PX8xj5AFyx0BGCqNTIAbZ6K7SUFDiAMPmDstdtxh	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9yk1b2XRZoZUOg2/4R6VC8eYm5RVW7ctPvBD3hZ2dOJypyPCrgQ=	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHono5XVxT2CV1qX1F2SylaXCdr4XUA==	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHg1pIDGVc1+56N2VpMMiG+XFR7mXO4uLapDLd73Lt1GpFGmzG6k=	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9xkZn7pcHBmgYipY2AKIQLOxf3e6+mSCUr3WROk9h2ZuXes/Ve2rPcCI	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym951AWorrRqQj34FVTRakuVkbbl+xR+jwwbpLQfw9BfjSj3QQI0h33WqjzHABnER5xgiF/5cqUj93bA==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9ykoc4dmtSNvQyJCOP+0FudjiYKvGJ2GVm/auEaUp/4Hsy9ofZE=	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym961jpIQ8NTc+9zSq7+9ObHyzJoIIX0BHBVbb4R62SfmRDr8ke8BgUWMs815XLNCRUfE2lNVJ	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHkWZ5ZkO0INpJmgjF4xl9EPM6XCiXA==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym95EcAaf9Q1femNoY6qMMn+sKeI/7lgtxBJ4Q+g==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym96E86fAEhgTE8p+SuzEaQ/v40xFSQGCa	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHkWZ5ZkO0INpJmgjF4xl9EPM6XCiXA==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym95EcAaf9Q1femNoY6qMMn+sKeI/7lgtxBJ4Q+g==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym99VPuO8UgKFufy3K75n79HUHx6ibRzE3pksby3E2psDL8t6kWZYTbJm9	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym96E86fAEhgTE8p+SuzEaQ/v40xFSQGCa	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9+WnyZ7lThxUrYl6khoe9IpYed4yhcAsZvuJOOPLJCvGS1KRUBo=	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHopwjBOd5vFEdZ/7X7grruEShsSy7Q==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9xpITKzkGtYc14dOqNhIHc4WN9rpxUM3CGAWcgLJhPx/GAoYxZEEqgOU	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9yqd7NIRpwn29WT8Wnb7BEVTdLGklE/KX3Yb6yf+XJJAT8BpXvo=	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHopj2dQe3SQ9RIHmdoknuqS/HWI6DA==	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHg4J6EesUmaX18YYOWNpsoHZIMBCXPGy1LPvL+wBTnZLD+MhlH0=	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9xr0qPtVxmE4pzZ7JDbKub9SK0RRXZfkZSmcly4HI3r77fwPHsv5wrFP	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym955am7fFbklTqCWHdgDu5Z6eS5/Ky52aT8fe1G2zapIJ9p6zrCL2Om1qT13EMIfCwmQzWlPJ1jc3+A==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9ypozxzn5UeEDDc/CfMTWbZebRQ0L51b1DIHPjpchVkXYgJO+4E=	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym966UTbm0laFw8bMBk2p24buGsYP33VfqRZNGBKfSlnfzqJDWPLoWYhdf++ArrIKTxRXjmth8	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHkYN3M0fgb/CGiwZIQ/+f4Fib75KOg==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym95Lu2M4bpfATl052T6l3u9AWi4CZxdjiwlc/Ow==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym96KAapSW4CcZAHrg/xusKIer0oYc1LtB	tde:AWxxuOPynUxOCrWmw9Lh8KSaiEglSoZRQA6DqTShi0XjHkYN3M0fgb/CGiwZIQ/+f4Fib75KOg==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym95Lu2M4bpfATl052T6l3u9AWi4CZxdjiwlc/Ow==	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym99aj6zODoDgWBXFx9n5kuD/cfQvEsp7P2+xGyzqhWFJzVYwDMLKXbiTm	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym96KAapSW4CcZAHrg/xusKIer0oYc1LtB	tde:AWxxuOPynUxOCrWmw9Lh8KSa9of23iIxRDy7v3nidOym9+btmo3VsAqmjArSmyTdGiVWs0pl4oUBS7CxacTzRvZQtBa6mpY=	tde:AWxxuOPynUxOCrWmw9Lh8KSaKCYEqDptRb+UeoRaFO6W+hr8/I2+aAreEFaGBom8a5KXSAP3geS8cSnAVrcgK2eMxgD5lRuIS82i
\.


--
-- Data for Name: v_int4; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_int4 (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHgi/Itiyo4XkQhL6usL/vc5kV/UlHN8Y	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym95hsUpP7MIXtT3lQi9irN/NLXTBiSh83uTFHyXG/PORTVoNg6CFsSnAzuvQ=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym96hesSRimQLr81gsTBU1iV75pNBx5attMtHMhH/0Ig3XlcV90dNFNQ==	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHghuWX3+tPje1Sai5U0Wv/xlysPOWBpB	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHoyrw0xKqpL8XFuxLv2puAJyjSgzEDM9s7GcrGfus1bgh4eaZrU=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym95iLiBbJN0fCBI2T1oI96KO5dMhJuaatZRxFhy4oUYsQh28T0dQgTK4u+1k=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9xx67nZLY06x0BjxXDf6qLK1nx4/K11VY35+yL1nBI7BzEDkwOMPRVI/e2ojAV3Cz11nhMFPV5fuOQ==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym96j14FfP9Y48HbxG5XXRyhilkuMu/pnBMz7CuSnkQLUHSxPL9qaC0A==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9yx5Qh2QGnz5LnzQSSZ85mJ60x5vVpGuvV6yptAUk+Sw/HBHKUEw0zm5xbBnXL58N5zeqL9A	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHsRJrIkrb/jRl9RGCjTa+O9OGJh02A==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9xBmZSrDL2Ra89run2tocIfOJScuZv8u6B0kddRO	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9yCBJOZ1IJ+1EKsvnJVjJ6wEUTLtREJSd3U=	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHsRJrIkrb/jRl9RGCjTa+O9OGJh02A==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9xBmZSrDL2Ra89run2tocIfOJScuZv8u6B0kddRO	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym91RZCEqtrlC1Aq3lLXEEHpiZjsNu7NJoj5yfT78wj5FySZjs2POTchDh	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9yCBJOZ1IJ+1EKsvnJVjJ6wEUTLtREJSd3U=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym92RWLCj+3TvKRSp1z5xAbO7bQyMPadnedFu3HKtCpRsR0ITFPYo=	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHonT2l0A+ylRRAy2qQuR6GP2XQhicn8Z	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9xns5kE+mP4v6bgUDZOl/PftRvA4OVjsSrHXdamtiDDZIsMMDf6eDeaPw2c=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9ynwUB+Q5ETm39iZOq/hex/NQwq6MA0RLQ5yZh0nc8aufX3+stuzwQ==	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHonpLOxlvpvT551a5O6AcKw0buLgI/MR	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHg0sCcIMhhFMJ2EhodisxxMjNGpyTsU1Ed01YRZKaMpoj01yAac=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9xnwu6+c5LuKZ0U64tnydI27oscWlinZfO0G4mB0IsiMaa1N05FGonpvTq0=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym951bgDMH/AkI9f5VICEC6cpUC9z0J37XIEfKPQkt94y77H8iBN/mYlBuR7icPg9yMxNHVZXtUaEz3A==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9yl6kaaRLcoPqtwRtg7mfRVjGND0fwCpyWAt69vRfhIYn9b5g7MMWg==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9626UZ4tsXH/Auy3KN2pPYUtoKc4bhsrSV42N8U1IIqc79XIofgTQHGkD3KB/3nF3baDcEzb	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHkW/EmoXDtjts5FfwF3iYxwjAAQiCQ==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym95HqjztVrK6jzr8080GGqpeWHAXndAIDB/n/K/k1	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym96ESqh/6yoohshXjThELFJUBQIIK4VwXltw=	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHkW/EmoXDtjts5FfwF3iYxwjAAQiCQ==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym95HqjztVrK6jzr8080GGqpeWHAXndAIDB/n/K/k1	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym99Vp6jq7kOviu6npCzWSyLztGSDVQFVLtpmDJRpLNowHA0FiA5xnZsNf	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym96ESqh/6yoohshXjThELFJUBQIIK4VwXltw=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9+VB3lhXD//vIclxcEQA0d8iVc0xnNmcupCSLv00FOnG9QM0VJE=	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHoqRI73OlfGzixuF8xiGfzXfGB+o/Z3N	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9xrjLia1LqnXOU4gElCWnUXkzMge8MuAIak+R3QpUkSWKV9HY7L/GpK+C8Y=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9yrUdbbgNJKd5a6HpXpQXzU+7JLQHpYY/CQVAqWfC7v8QnvUJEz/ng==	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHorDKMGe2NZ/sKlWfg/GbsXbL2i8lQDp	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHg6VRFTqRWVa2yMpWtnwgkEvgTCTJxr5RWritPEJZIjlZZScWZ4=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9xreQTHfz8ljKRQxrPjtflWQPkJmKhifiU/JSzdXmN+Y0uMUI7/JpxNA+Qo=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9561fVyJOrYINLs1A/S2fgTzg1Oa6oLPccCoPKuTygy28lsnnqriMMJN0zlBeZc9XcjKNwfw01QauA==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9yraBISQ1w+1gtG4Yexi47gmC5beDRQunJAU/XkSuUOcI8aNog0ckw==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym967qz8A3W2KX+0lueImtlnJbrci42g8qy3D6L4voVyZJ093wkUhTrFuu+diWHop6So8Ojzwc	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHkaH9OCDjtfrysmIVUZbeZU2TpXa1g==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym95IN4mdEjWHh3pyr9Yj3toMHZ7un1CMZGTdRMCIl	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym96LcqCg231CnV6vFpkxbPWTaH6Hu5e5nskM=	tde:AWwvfp2EW2pKHYw+fh8Lmmw0iEglSoZRQA6DqTShi0XjHkaH9OCDjtfrysmIVUZbeZU2TpXa1g==	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym95IN4mdEjWHh3pyr9Yj3toMHZ7un1CMZGTdRMCIl	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym99bKzqk/M3K0pHQxR6PmGCpgjGbTMI5mAYtfJksdLd/QfEiKiyUNbfD2	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym96LcqCg231CnV6vFpkxbPWTaH6Hu5e5nskM=	tde:AWwvfp2EW2pKHYw+fh8Lmmw09of23iIxRDy7v3nidOym9+YEfbzj/ZTX/IXQk62XwBVUefVa0UOOgHrOKhzO8B4AR6kPJOk=	tde:AWwvfp2EW2pKHYw+fh8Lmmw0KCYEqDptRb+UeoRaFO6W+hoyTkC+NqimG2Xf3xEustkuPo0w86KLMm6hvl0eUzDvjB+BRS25VnAHJ7s=
\.


--
-- Data for Name: v_int8; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_int8 (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHgh7EOEs9N50Z84EMecaBOjj8rqAptBwmk5J0Q==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym95ikFvvQMGc/wHy/6Hf6N8P+T7adk2J+TrPLOuSHiIID9cWxOEvduUV2XFe/eI2K	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym96iZoT9/mMf3JvyfPKgzMBQujMzIIFjPY1VRUXeuP8A6/+JYwUJrpxtEHF4=	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHgiTzqE8O1Lf6kwsgvOobkVMN6GBKLLxhnudSg==	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHoxzNWOAgP82D/l54Ux34LOAcMb2yqxPg3zqlwrZjkvwS2E8ouo=	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym95ixfsZks23D7su2reLD8lpJzhu97HKRT8KoQWmiehQ/7v+Csp8emq7qeqmZcSuG	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9xw6/uGT9HMGaDtngVWFTq7mLzh2NUsgKMNu+ykdeYGfctzWl0oMHfhF0tYYbcru1Xj4anRVRclL6w==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym96huXgMkrKhzIeAa9X9tHHA5ZHDObX8B/kFpmz/jNW+sFcYwTxKqJlymyV8=	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9yySCgJjuV4qg/vgCmb3gEsVeP+SGzK1jxgvVGi6Xum1Ua7PGqQsTwik84yII2c3t821VoO/	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHsQSbcbIE9OSeLK7CBVMPlUMxJIysg==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9xCx56b81Qok6c2YPZg8RNLhFKibZukOjwCZOyeLk/VXig==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9yDS3a+KCMnzbqs+hcVN3GuU/u8HZpsWE7zJuQbO	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHsQSbcbIE9OSeLK7CBVMPlUMxJIysg==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9xCx56b81Qok6c2YPZg8RNLhFKibZukOjwCZOyeLk/VXig==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym91TAI519TNncguNQ9GKHLzcA1pT+kAfp+ztjNlHzy8ZbHkmstG0vhb1O	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9yDS3a+KCMnzbqs+hcVN3GuU/u8HZpsWE7zJuQbO	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym92TAqnwPLoYWf7pgtIyBqA03tIiCNF/KrdqLGAXFYjsA0uC7oZ8=	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHonommUag7+WWaGcNbX++6yAkjVMF6oza7i/ag==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9xm9AWL8nHYySsBijZD0zkyepEzjIWcXwXIfQGJLwwuQGzFzEBSUsXDu2CjtgCsl	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9ykNB2AjqJHzokgX89wRpuLTGtYNhmNOkN84FVgrToIJQsgbQA/HF9Yox5Q=	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHolz/1D9ispSsr7sRZ0gduLkYrPeGlzMs8xAvg==	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHg2ugmJMMhZVE7jkkauFlSdLQn2EIyZkLc9FyM9BQNVIMLXmKdY=	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9xkcrtXoJuarXHmvfDYF+Gfrkh8OtL9k/SfkRSau+G1REB2IQ1AV/JpcnzusPSPb	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym952lh2zjUIhSeFs13m6ZFdpDvoN/XqaRgTF6jt4Eu0cHE4wi3AeFnw/NUE74jGpaTyJ4Pbhqsi4I9Q==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9ymA6SucK7Bzmwz5jmKrAMot+ZZG6T5PnJC+zdMqBoed5w5kifiSZ23PkgQ=	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym960z9nMKjbSf2fscS0YSf4eLKQOZ8KieWEfdaMZ4h70xKro3kxjKgank8lSsyl/lf53k2hNQ	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHkX2O4aRs5zx6cNyZ3jZCXLAefuHFw==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym95F2wUlpWkG5PBrCwPyaPExnUuInThYDvytXw7C6rMAEuQ==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym96E+bpCHP9WlNbeZ7hrIfNCMoU1MA9LnKOd/gk1J	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHkX2O4aRs5zx6cNyZ3jZCXLAefuHFw==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym95F2wUlpWkG5PBrCwPyaPExnUuInThYDvytXw7C6rMAEuQ==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym99VO4/LlWHWPNSmKmkH41L3OXreL3jau37rFxwsVRRE/lW79fllpUq5l	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym96E+bpCHP9WlNbeZ7hrIfNCMoU1MA9LnKOd/gk1J	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9+U8V0ZOVhzYg0oX0RGq7llo/vNUtwNT2hd5TDKjUpHl30cbsoc=	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHoqMuBltrewEDOizqBV7kpJ6eSziISxPMDYG/w==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9xpCLXYfLyU+6J+zMDFL3e9sfCbKnvIqEEdU0PyvMwoI7OrQyh3DMq1f8eQ8qwIO	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9yo0IDOwXj36PrwG0D0dpjYJjgUsbN6oMrUfn1HP3xzsq89RUH5hLDWObzw=	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHorGC5QC93Elu59j6+sGmlq9KFC58x2exFdtUA==	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHg7VBnzwTyH6csC4RqeU2RUAf498ikxjZxR9BZPCiosbdxzwiiQ=	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9xoVeUTWvTvG+EU4AjK/11y7vRT8Bwinpzdokcp6US15uR0vZCDvJgnYXyx0YpHN	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym956aneOklFscupsVcFj0/hAty8J418kS7OEMvHHuWP/oqjCJswn0Pok1cMGHcghBUf22Umf5GeXIpw==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9yqqjc6yxATMCeRPits+9VgbdCQF2xFFsBlRGXJRHH9oKtnwguAVZ4Tw+zY=	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym966+5zx8gRcRZqgTHGnQNHJil9oqhuHmKclr/c+jRz1KF25ZrSHjH61xWgnCItTIVeJREDIC	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHkZNRcmNqlXyUOcRubifNsfPp9H7Vg==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym95KEsEsAGHsKYYyrMKPh4t8un3lZv29/YUUpJawFo6JVtQ==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym96KoQPncfpYzxj3vlmsYenKtpFwtYm2UklTzIAs2	tde:AWyeO1x2Gi1PjrTFPWqPfgtFiEglSoZRQA6DqTShi0XjHkZNRcmNqlXyUOcRubifNsfPp9H7Vg==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym95KEsEsAGHsKYYyrMKPh4t8un3lZv29/YUUpJawFo6JVtQ==	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym99YfhR+FeiokZa9joH8DdUOCW1t5fZ3MtWdSqJ9qQv+KMdJkBljoxejB	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym96KoQPncfpYzxj3vlmsYenKtpFwtYm2UklTzIAs2	tde:AWyeO1x2Gi1PjrTFPWqPfgtF9of23iIxRDy7v3nidOym9+b/2xJxzxCjK9lC+egQGBWXHEVdmVv7cQxr8wJTw6TPIX+6SEU=	tde:AWyeO1x2Gi1PjrTFPWqPfgtFKCYEqDptRb+UeoRaFO6W+hpgUGscRoBlc0kVeewJZYljKUR4JdhbZAEEagnB68Z6bIlsonm5Lp8rZbDFolxD
\.


--
-- Data for Name: v_interval; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_interval (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHgj3Kj0e9nB39TeNF3eoFConabboeZwLBgTglOCU18LUbPoB	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym95g/t9+3CrNQKJKrM8I2pH5PLefBhxNC5DXrDpk22AfAlQ9n+hkWpezlspHGf7aiHDNYuuytk8w=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym96hA5x7MLAE4BzOMwMdrUqSLMZtdbY/QAanRjIwvPewuggZDja0VO/KrFPYlJUyh8NlQ2A==	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHggsEt0xHYpbJ1wOb44XE4CkQBhb0vdn4JI89PJuJBqjYoCA	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHoxmBP58ugRIAAnOcIFz38z6rcTuaYv45nWy9LH0rLbDoEqoWuK3fwJKona+3q+6973JcN8L	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym95gm28Dpirq+clYXfBB4Ycf5vj+iZk/YOwWbTOyIczZRaAUycF2LA2VWCDmqjHQlqWWvrOiifNs=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9xwgRIKdUUKjQwPj0TQ9W8QiZSbm3+k121o9meNUcyXqsAzDXaozWmpqxpLiRVGyPUko3ZUotqmFKgCrVqYPadKoxzDl7SpMN08=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym96ga55pZ1nGlE2sI2DEYTePL8Afgvnt1+7Z/cp/2MTnfgTWJbkYinAokVSqVbT1EVyj/0g==	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9yxm84PnICcJtGyiuqVkTutqyb80c+FxTy6w8ng696Rj15fn4DhtgPAEu2/PXB672QH7ek2wXRBsilbrNwE1RiYi5TyJHQ==	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHgSOU+BeAEJye78htiKZESZjhgRA5g==	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9xBENnXwNXDkM8++aAqcus19DnfQMxZo4kSU1b/EjxHbLyMssP08PuMU	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9yBmIuHQYgdJMK4cBokHhatt84dqpseQjm9kgVa8XUYJWCJv90M=	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHgSOU+BeAEJye78htiKZESZjhgRA5g==	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9xBENnXwNXDkM8++aAqcus19DnfQMxZo4kSU1b/EjxHbLyMssP08PuMU	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym95RunBpOkmVbkBYHp8z7xE4Sr3FxRu15DEkp3O5mOZBHyrgmsgOJPGn0	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9yBmIuHQYgdJMK4cBokHhatt84dqpseQjm9kgVa8XUYJWCJv90M=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym96QYa2MWRRB8A5Ej19vQ5o53heKxj8vd28UHXme7gZKNtD3TI1A=	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHonaWtp/XF1VWN0JfjaetA7BUA/U67893mhS9rgs97TwQ4MV	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9xkqdU6D7eTqjMZlQh0THGma5/OISpIbfiUECQkbWc8IGA2+Aa489mMI0eJo7bzhGyWoCGo4CLQ=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9ykXoE4/C9bgxvtOUpX5Gw7lNh9GoqHlItYZBiURd7igCINzeSfS+kbH663NpPJFZZ0SiA==	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHokPHkRtzbZm+kaY2f3HbuVsDlBsHOmq//9HboBUk+luOBcS	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHg3mqIs5Mmtf566HmaaRrMvptOjJp8UlQTrbaq4WskE/ugiDCmyM1f+OzQ1RrOL/iYlQIVS7	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9xl2NhZVRJi9+qhl1jdirPa6cZV5np0oQiwaUwIRd2R3L4POM3EfHTTSYkFZsiI+3ewtd/XlPTo=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9509TwkFV2fJS2byI6P2s4i2Eus2r7Ap+57CwEqyu8ZcGxkGyU5vcdtV4zcL2aq7+rakj3ubLcgSPTMZmt6A2lcIKpODSthkp70=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9ymtQ3+iB3yJlL1tJ37Wig6d6PuGxx9SzEJd6dOT8v8/tEe/FJ+in9uax14jXcM7pyKNTA==	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym963m0VEfvYlTZzvGoPIqJlaVW3TG88GsTehfHfYsZxEFfGo2k7gj7iTvtk1u8/f15KMAx7ebvfel9bdTkFmTz35f02Rb0g==	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHoWZ38HLdtwCaQsY0Ibe4qQJcnkqig==	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym95FuUpKJIh8XxXdGV+nu3HwhHDEHQ+KK0Hl4RZ2ofY1TOh5r9H9bkhJ0	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym96GTig4wPdkv68EeruQve6s7+HQBONJerNkKssbhAZWO4P+Z4MI=	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHoWZ38HLdtwCaQsY0Ibe4qQJcnkqig==	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym95FuUpKJIh8XxXdGV+nu3HwhHDEHQ+KK0Hl4RZ2ofY1TOh5r9H9bkhJ0	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9xXro3xC16Gapil8B2imDiWDdcJ+Bl4FFuGEgEmjqNO0Wq5tygjlG1iM	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym96GTig4wPdkv68EeruQve6s7+HQBONJerNkKssbhAZWO4P+Z4MI=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9yWaVY6PoscdtrxtLLuvpiOiQBT0Cofo+wpxQxXCMWGutXnbwnI=	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHoru92LyXeZp6gm+AGiYQFS1kUke9N0Xm4jcmBYmfkgJYyFB	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9xqDQLrJz0hhK16pS/BjpQxLRlMyYx1HyXjWAKD5hNFmU206X8kModDnmqROoGrnfHqdW3SFFho=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9ypp8bUGlopXVkxRGBHw+h8PvH63qR2xjaOyQmnICV+vvOr1VV9ZeLRxat/1A3sWv7AnJA==	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHoqTOhdMpjpMRACx3lIYUNoTSjeHAPGtVesdeeZAbKjvyVn4	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHg7P7R7hBCKSkFEnJBcnnA5dp2XO+KC6lwavb3lY4aZTRpA/vo32VSoCxFwR+LMvsEutUF+3	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9xpYCzCtJF2NPY4SAkBA+lutYGTHacmWy7D7hpaXnBl9XZyYSFIec/L5R0CAT+g5cA+kfJmSuWo=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym955g7IZdDhXrFfSeVYTibA9Sy341rhZP3PJplYb+jy1CbhzZsm7WWhjjYzVuGe8bG2tIMi3/SxhtK7L72gjOA4O4bXb0OwVpg6c=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9yq6yQDlleV/eR76ovgbbQkyi+fHlmnzu1vxFf69BczI1KazF4krC8jDXodugvdIDPqDBg==	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym964+MwzH7f3hCe+oPc3vDPgwsyklZ03q4sO+Y7AS5G6N1bjwAaIJ2JS8TnapoHURneISA9HRcJFIm7dwxdmdtIky4vYzjw==	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHoaURQcYnUxt3T375C8ic+lc8SK/QQ==	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym95JYIfP5nTBCsyKY0jE2/jw6VJS69281FfyC/SFgci9zjOTsrxp5hwdB	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym96Jt2ROgUQNWcNQW9AkE5me8Jg5EPdUoU8clqQIvpBcH77D6/HE=	tde:AWwpOEdWr75NzZ6PemtcTT4SiEglSoZRQA6DqTShi0XjHoaURQcYnUxt3T375C8ic+lc8SK/QQ==	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym95JYIfP5nTBCsyKY0jE2/jw6VJS69281FfyC/SFgci9zjOTsrxp5hwdB	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9xaQupTGSMgJmt5SC9YMgXhtzi3leYIvrT+lVeGWjNkWs4nG/PsbbGcz	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym96Jt2ROgUQNWcNQW9AkE5me8Jg5EPdUoU8clqQIvpBcH77D6/HE=	tde:AWwpOEdWr75NzZ6PemtcTT4S9of23iIxRDy7v3nidOym9ybY9iVIWwjF3U7W/YGqzNZjdjGMO7K7PYIe1fLJnLfuQKeVYxE=	tde:AWwpOEdWr75NzZ6PemtcTT4SKCYEqDptRb+UeoRaFO6W+hpp1sBKIfduFXkGtqo0aQqOil04GtlwUQwjdhbOvXkSYpM/JyOXNL8hS9wYPSsCUHNllfi96fg=
\.


--
-- Data for Name: v_json; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_json (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37) FROM stdin;
tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym95jBjYaMIeF0lHYN/9Dqvem8NDKyA/U44aVp9+uaZSSZlkuLdTC7N1adseblMU3J8iJnTygtxkc=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym96gFSWOXKnAj4YS9WKHmv1Wy2Oa85WwtCOoijscWrTQHi/8Acj1M5CeQ4ZF17MqQTU0e8g==	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym95jAvhBILrGSOhYZNB3FkKJVc8rtgsfgmKVVmpfLUdLFAqSsFbQcgd6nwT/USt72MdlmKHAw7IY=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9xw+Tj1lwrBM8T8c8fDEBEgkVcR3/0JUhOYs+YJBQGorJgV/b9uoC8pm9LQ9z3j3IFUITeWREAE09PfZ8A3oW3epJlEF9vp9SOo=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym96gUxSHJN+B3NDwsT85q0WcuKkQRDX677RiC2HYOimuL1pu8eGx4vaR8bsejP+nNVFL8lw==	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9yxZ5UD19p6fSKZjyVlQFriWwh5eHQzTm7x/Vg/mcvB264ugH5OYBk1TEdtupcoa8M53EBl599fzSXGN7fiyp5/3dnQuLA==	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9xAI54owDNmUD6uU5PTrUIbCfuTZ0dyvhabJNNGjWAyFI1uf5CKByojh	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9yBODZBmqbrkqUMAdOzjL6sue1SnyjlXVsy/Ta3ZeTpFZZjPu5c=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9xAI54owDNmUD6uU5PTrUIbCfuTZ0dyvhabJNNGjWAyFI1uf5CKByojh	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym95Rv7pRcbXSwNvUk73nh2xPWtoMIdl3mIUYx4JBuXoqqT75/7N+aUtCj	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9yBODZBmqbrkqUMAdOzjL6sue1SnyjlXVsy/Ta3ZeTpFZZjPu5c=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym96QaEVWSW64xh0fZJkhdw2Tz1lQARokyhg6OfzVHTZnWZgqoz2A=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9xnlXANNWBPhZoO2ZRz653UpD5pqmJcmI6AZ2cXFtFuZi+qLUv8EcPzHf0Nli9IifIqEPv7mpsM=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9ylaqnMCVzUpMds2VHE1W9UxOA5s2ABtmkAqNwSaJFpkZ6oDcvVxtRDO5zDnHKhLmYVz2w==	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9xlqC7C8Vm/UwB2tST2aOTp8MDn26nZuNC1l/SvnOyGkn/3+7Qx3MZUlGekpqH6yGjw9rWEthbQ=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym952+YtBQ7I28JakdokPf0J43k6EEGi3wtQgFcY/jRPLbOFaOw1LmnBuZNmNTuJjVpfNIdKLmetbLbhVj2qBbmtu3oXFac6iHLUM=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9ynbKKL0c0QKtCj4g4hyvcKuJb1/lBi//ooKeWDM26/dQhiqhGhfMhgZ18+8D4yGZwWbXQ==	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym961vuU9Aa4QW7zPnCfeyI1w05YxK4pMcYl/LQYhLxX2zZvT5tssCDV2haX0BrVC+ZHLNtovf1m11riJwRwobQD6nMe9vzw==	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym95GPhLjhO7CRps9d+pK5tQcLD1sQeYOFwaMz6dPZztVNHDnMRIY5bbre	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym96H+M/Kx8t3n7IMg/L013aVto1A962MUcbHTmEpYMQiJGdDPO3Y=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym95GPhLjhO7CRps9d+pK5tQcLD1sQeYOFwaMz6dPZztVNHDnMRIY5bbre	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9xVSnoOyIBC0DrEt+PPQHt3d4HasEVcCZVMR6Q0yDbjdfS6wcy/OjDmH	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym96H+M/Kx8t3n7IMg/L013aVto1A962MUcbHTmEpYMQiJGdDPO3Y=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9yURVIEhPfteatK5Pe+ALWeakT96M7kEMlIq8Nlu7GK31MIaql0=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9xrI1CpUe0C9fEqhIF3hBq31l60MouK/QLG2xzqatKtNH9avtEhZelghOHwPt/+dblEX66rzUZg=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9yqMBHijEb7O72OaRaUGXr8TO3ttWAxWePiWLWEKCtFkq6O+J5lQNdNiblbFKfIxdmYmOg==	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9xp5J9M7woOrdqMMt1ulFZaaVJ0EH5y0BIbS2TZA7ExnrYNzq1CQSeL7vFDdsMZNAMrIZoyFxg8=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym956+Wvww600qEck0SyqIAcm1ZaBTjapTLV67hDqw5nrGGVFEke4cnn2DSEqPqr1uiVAdGLeh0BpPZBOGGRywXfrkcATc2uquAUs=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9ypsX+sBxVndcVoaGyvz3wDKPzirEFNu6uNyuv0z4qwRxdN3unb0F6dY58t5Ts+mlrIScg==	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym964CIxyCfkxiVDYggf3p+x7zN2jeL7RoW3FKQg87ZNOCSDaJl16/CxoDXfoIG7r4QOd4TskcTZs9EVIsBfOj1/dIxPLtAg==	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym95J9FNdP1HYP+0YVqvYLBYT1Irdma+7qpkyToPHC320lYSYY2EjMDV3H	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym96LsnVsqhNz5WdpsmrnW8GEamFsQjJRa64oo4tq657U39Zsdf4Y=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym95J9FNdP1HYP+0YVqvYLBYT1Irdma+7qpkyToPHC320lYSYY2EjMDV3H	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9xZ7hWLc3nykpV3Lxu5iNOqqD8l/vjOta15hp/SKaTMDiEmWTZIxvuQ1	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym96LsnVsqhNz5WdpsmrnW8GEamFsQjJRa64oo4tq657U39Zsdf4Y=	tde:AWwPHi08S1pGl7ipytvs/Q409of23iIxRDy7v3nidOym9yaRVQOKFQA7nUV8qDy8njVNwFnYoBK9sMLMoMeLVk2ySnB0MKU=	tde:AWwPHi08S1pGl7ipytvs/Q40KCYEqDptRb+UeoRaFO6W+hqQk62ppaawWuu+TJTlyiUiHXH5+JradgWzQkmZApcMKDKZMjsWs0XTmaInBNW3ruY39VxJqW4=
\.


--
-- Data for Name: v_jsonb; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_jsonb (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37) FROM stdin;
tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym95guYrOR4qtMSd20UjqmjTnqc9y7RPtZFZu7CDydRS1Wggo16pidx85g6nR4u1lFVyOlpy/edGssqwNCflIoFTXAZk1BoT1B2czpKQ==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym96iMX7ME23/+Nsv8dmPx2VysUjjqHSXia1UG1KnjlbZwSbJo+CNFh/ZPPA6eNok7sDU4n3tiMzCHy9Oz/dKXOT5sA94b8444	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym95jKsNXNtc2l2TSvBGcQ0fmsPYcN/4zwWPWv7+xMqI/Lgb3i7rRmaoPyaU7GGciAB5aY+RJ9TgvHCSLMwpHeSxsta4yJ5EuiUSG0eg==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9xyYHu5vDVR4cxkaLK2TR8h8KCNYLpGXJ5bi7NvQmZgvHeaHRtsyeRXy7v6u/BTyEn00sAxLiPtiuURJH5mmcHsUT25oIcKsm0CdXCbuevOsVd+FuRS/zhXp	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym96ifiQAt1UdjKM1pupWJHv7KjOS//V7KtIfshO6o9BtiuTEhMYz5wlvgHfiE1O/5BGbfYIR8bAPGqbOcSyVXHDYS73tN20Wb	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9ywe1NyyxW52VaGnO9RBFyU5PmZ4gOsH8+ZEurYCbO0lMgqeFsp5FPRFGU3jv2IxObsUQ+imBwIPwXz7nUf+kLfSaXiNgVf6nxzyngfN5Ner8DJnCSs=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9xAVSYNhva0uRTs1mMwQRLLMpH37ljl3XnZ8zcRkexpaCfi7KA2tjX2PfliAnBbXveKakvt7xwK9J5Uox2s=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9yDwy6ij7L1hZ6nunJWbSm2UtprGdTGyMkNkCuJNgeVLgc3sMcvOnVUxvFa0ztMqdcWShK2qC01hCw==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9xAVSYNhva0uRTs1mMwQRLLMpH37ljl3XnZ8zcRkexpaCfi7KA2tjX2PfliAnBbXveKakvt7xwK9J5Uox2s=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym95TBBkvin9IfxYgkhqqUYxju7r6X/WGnqkgvs3CQqWoy9n4ubutI2qYeAVoGYZOef+GqdJuZp0s3yxWRDW8=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9yDwy6ij7L1hZ6nunJWbSm2UtprGdTGyMkNkCuJNgeVLgc3sMcvOnVUxvFa0ztMqdcWShK2qC01hCw==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym96SVrROh+hJAhjE6pawIEi2WotgfogCatUw3VKcqeM936t/0z60sxFuDbnlofPwLuxxSe4i31nP9hQ==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9xnnoCcH5iXy+2Ju6UKxXcnaWr7jHeUYDK9CcLRhB9knptsTmkPtMxUh6jhBNtIxZfgtWXEt9yUFqpztBfVKAVqOmp753JWPJPN1Sw==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9ynJ40ssRHNyMzCggLrOSWAS1MOCzAnWU9JoSMyWfDksGZsJMbpjCiDSug0QxWJLbgN4Ng3YbdiOpUUNem/CkE5S6/+nr75N	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9xk09NqcXKhB/gbqhZQzlWezs5QKh1Vobn0M0CScLKAWWsmmfa6oUr3nDxv0Ss2fCvleneWOVdaplg4nU3eGpJlwupzd9qeMLwEmXw==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym951+HmP0zQ0QGRQdBsEFJ02c8hLXlCwA/Yp+PlkLJNDM8tXJHxOA5CG0riHpEEOVdDxd6zaRVpWf0GJ2haxOjKcGytSRgdB/gjai6TqJJ+zHMmccywPUfCgm	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9ym/sOrSj68vgmOMBCGjN55FNzHcFH8UF2OHzBrM1rtcw9jBGqj6jSqWgCaFD+tkv1UnHTl3heEKt1ieqgqAbaVoTp+hg0Kc	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym961HHoqJ/7v5gK0ty1IMV5y+6dkbNsTU/Y9K5MPLrq2RjtEGoaMTFNvlIlq4ltE0JcqARCEsSpZZpBbBGupo/EH17+2xvtXjdVPjRyfJ9BI+AEskreE=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym95HNKnrWwJ2CKlNr4sf40abB9HzmwG/bWoVLtQf6XfRXX/Q2QSV8StZv2umXhOO6rrvfZCIArEG0AV4O45E=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym96HKtxZboJAJYeXj/vC6OlFx3289NLRD1zJ9q9XRaw3O4gHbb2uIWCf+N/W9Qxl6AbxOKtfhAhhp8Q==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym95HNKnrWwJ2CKlNr4sf40abB9HzmwG/bWoVLtQf6XfRXX/Q2QSV8StZv2umXhOO6rrvfZCIArEG0AV4O45E=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9xXARf/8BHd6CM5eRs0uRDfKO2hrrZgmNazIHMxujZJdlEuDeysiRWbS1VZSqCzPVZiMW2oDyu/PaPkSW1k=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym96HKtxZboJAJYeXj/vC6OlFx3289NLRD1zJ9q9XRaw3O4gHbb2uIWCf+N/W9Qxl6AbxOKtfhAhhp8Q==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9yWJepf1VYMfHL4OdyO342y0mNym+kwyKhhoyuXCqTenGO3M0viVh9oc8D+njsmB36Ic3htaElJMSg==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9xorWl3KRMYy5n+rNVODJLApLiBrnq1ePTUZDxvwwMgEIWzd+w0QY5xP1ozanYdvskGaFWEfwjBfsxx7NhV11Wy3XpllPRntZOLuZA==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9yrXYrl8Sia9DvXgHo8Ek5NigtCC8LTjOJjNamJwJnjhHq67M1v9bZQEl0aBVGhqyD/VkWNH2C2HcIqsB77Sl2eRte7nB7s2	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9xqgefDP+KfROBOBFK3zzFQHT7dUa/ckaA/9fEQZmLo6+qlBvQU2pWtT7sdRp0MEQNFJoxJ4lGa7q6CsvLEhKNACUBwXVIfVShjCcw==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym957+1sI52mYVD9WvsVQerziRMrcAEng7YYlsEBuoSUvdDjIfAwxRz66RaAV84/TEccOrpiC2e8eV3y5FjQspb/tThc7JZeA01TRsV4rDvFNFRJNBca5gaJOY	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9ypZIaN6VBJPhzBuQpRt/Lf/EBlfD6ho3GgvEBQtxP6v4qHG5S8cINH/oQeGQUG7sOqMIfsul2TVu0Bvf4UqrlsCHsTehwUX	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym964h2Qeo9gPSDhfyuRLRU0WF/OAO4F/i47KhroLAR0gKIFONqKHql8dCNZSx96Nk1X6zNq7aYEBlzrH+vMCYQgbgWOQybIE+BYUfxbNd5yd+t0Uz2Ig=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym95KtbgZ3z/1EsmUkOm4/QeA8+z6FMNquaIdc4Ee7Fkr2PwyZ3MH8V5sfdJMFsN6e+wH/XWVx9zdf+MSRqVA=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym96LqHtGxaoAKJ7s32FSwlGqAwCKSSIO0xtuA6steAcmLdRiYi5VKkMYBUduWg//uG7TGIAIC1zeWeg==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym95KtbgZ3z/1EsmUkOm4/QeA8+z6FMNquaIdc4Ee7Fkr2PwyZ3MH8V5sfdJMFsN6e+wH/XWVx9zdf+MSRqVA=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9xahYb+Y4uTJ+uzFNEvacFzqBBw4b6S0BzYuasXh7V+uJz62rUo7YTAwwvnvJFv5oSI1Dk59WrL5AtbrGpw=	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym96LqHtGxaoAKJ7s32FSwlGqAwCKSSIO0xtuA6steAcmLdRiYi5VKkMYBUduWg//uG7TGIAIC1zeWeg==	tde:AWx+bVxLOilBgJ8OHSw7Sl9F9of23iIxRDy7v3nidOym9ybgrzi6E8iuCjnbos6zSVx3+uI/OXkPn2opEPUekiTpiXAdvNbXkCbVj8KshVg36FaYIxeYPlRG2Q==	tde:AWx+bVxLOilBgJ8OHSw7Sl9FKCYEqDptRb+UeoRaFO6W+hoy/RsJBfZXBiY4ZaeA6clJSK62rLGOjOryeQ716KyqPKNj6H8nPGRti1HHD1TTfnKIDqr1cu1uVCrwU6BgblCH+aPdfOROXESV7A==
\.


--
-- Data for Name: v_numeric; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_numeric (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHgiljIC3c/8KHIlBuGQwftnOWW8zh9yamygKaQ==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym95hOLyGOi3o0K3fChHxyRwN8B4bWxBjGcI45HNngliSxCB9D9hTD7YFzUoc5LjWG	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym96h/vMjFDvmfAt4lhBz5svopxGBq/8MHnuUH81JJm8ufxLSGfWjGIohBV2I=	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHghHBzfshFjEy5N6h8agC1Uc/IbGRBIBSS7wLQ==	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHowW1RxGpuITiJUevQh381BOJbPg+lECyHHFFGwFKlaGE+4tBRY=	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym95il5E8UWXohKxIsoY8anMk/MvCP/oQP4NKVl4YFjCDHNbsaXSmoBTurAABSR6kR	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9xx4QU4RUs1zxmbVoIk2HGP6M/87MWLYlk/2HVirZvHHzja0iDDKaplfBRt1r1Rr8gPELvRFfz5qjg==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym96hOpcqrba7/LDgus1XktOpJMB97kH5r4PsvxKkuvkMmPVJS1cCHRaukGNw=	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9yxmgvp7u3sjTbqejplEaPRURt7pdgdJ+6MqLfcxjlI0DbQ22ycaibt9uomacHzTjNUye+Ed	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHsSDTWw4YD11oBtA47z1NoyBWjVuGg==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9xC9VgfzXbVQYBU61fbBZCtifPSY30RpsuwL2EgE7m7Eaw==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9yAWjsZMuNiZjcYEmv0YE8JtxBuN+6VEuZULrlKt	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHsSDTWw4YD11oBtA47z1NoyBWjVuGg==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9xC9VgfzXbVQYBU61fbBZCtifPSY30RpsuwL2EgE7m7Eaw==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym91SHvZ+pR866p4ryRG5qHmQ+Wp69iQqOO9z9UglmV1xx+DZt7AxcjewV	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9yAWjsZMuNiZjcYEmv0YE8JtxBuN+6VEuZULrlKt	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym92SgVtqI6DqhoucwZnIHAVSBc1ar7HRGtnfnA/rYy2ZkDtU/fLE=	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHokDo/g3+kR+WSDhWRNpTw5NGrSwPFdqqyMlVQ==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9xnuFlaXCdnA4IVDLddPEEWLTfEvr8HH7FsAhRor22fKW8NiGxu/UWOedEZKA/YC	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9yk88YdkoZ6adqQM/5uKaZGaV1vMgJx/HuA/fvHmfzKu0oKtdUkB6GCg5+8=	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHom+tdC9kmqzes0V/HFy4g/InZi3zj/1usIy9g==	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHg1n0Vjqo/FJmK9WlvE5WBylhMnhznih7tFskfcTQUx5sIA6GZQ=	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9xnmni9yacqkWWlEvt/K6oZ9ojS3nAdANKCQl4Uo8/RPsaTiLeDgFfntiweXGYcx	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym950pnsRBFmLOWE6aQOwQmH0hucyHAFjYG6bZp+BzmA4Lu/8L/hBTJ4VFO25LZkqkTER5ogeGw9jOQw==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9yk6gb/VPrqJBlkDCQoruFpzhtd/PlvZUFsbRqT2SCLwSAmR75Oo9M7WrDY=	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym963BzM+FFOEUvavewzEIl0RKEx30WyUQ1jRG39Fe1QqDxwtz4sFsQHR7Q6MTOUozHv582sw1	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHkVx9SIaTCvl5U74Axrr2wysXWaiOg==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym95FeJUzn9v10+pWFIrR6gAjqYY0Zc76rrHlAfr4tv9vDJw==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym96FRVLWcA9U1HC1u9AAYiVzqrJMuIXOlRXsATWAL	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHkVx9SIaTCvl5U74Axrr2wysXWaiOg==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym95FeJUzn9v10+pWFIrR6gAjqYY0Zc76rrHlAfr4tv9vDJw==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym99WL2WhCkwEQNweAaBaiY72FLHi0bAKHcszOGc14t395Y/KPrFe/vCSr	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym96FRVLWcA9U1HC1u9AAYiVzqrJMuIXOlRXsATWAL	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9+W96atNFuFW1o/+yEnOvO/+YVx8SiY3nehPQJPA555qFZChwMc=	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHor1wyMOlOUybbBITQyhH2Pj0zU1X796yx3NpA==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9xpDywSeL60mjO63CinvqOercGNtLnF800LpsGAJwh74h+sQfi1Ivwxb1bhQTeeH	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9yrWeELHrXUqPZ3OWi4MRjz4XVtYLty2fa9+JDUbTEUrUUBiiN7hMO0awYc=	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHorO4Sdusld2/SZ5lxTyIzMV57J55GkgUX7vGg==	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHg7WDq+BzP7HOVVoA6X9kHOTDxjOVHtRpeihDyRjELEq6S3W2es=	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9xqYCflcOG5LLJWMPF9sBNkF/DzIA7cHaK+8omVoiUGgz3Rp9xss9yBW5QEJa8go	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym954aUF2uqHcD45zGBztI1GbLDq6ZGOck0KJpdL3gTuTHKN2qZPLRw1bx4wEwxqoX+TK7I442Df7APg==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9yqhWbDZeuerCwyCARwSj9hCeT8G3Qxsw2oTZASMsfN7Z0tmTAIduf0FCqc=	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym965m1sCPkGcRUmcoLzoaQap/pduL41/rPODUQdh+XjFEE+4TfKvAOZ0VUv1QenErQG5QRRF0	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHkalak8sCgD+WoG2gHRir3uZZelLbg==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym95IqGxq/Y5SNGL2lerSbEcz6BUxJLqvPD4of2pI6eOerDw==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym96LGdyqIncBlnCfznIKvG09vcLR0cSQunO+Ed3EO	tde:AWyx8KejPE5NfppRCpwvbY4jiEglSoZRQA6DqTShi0XjHkalak8sCgD+WoG2gHRir3uZZelLbg==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym95IqGxq/Y5SNGL2lerSbEcz6BUxJLqvPD4of2pI6eOerDw==	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym99Z6ieFEtU6RP2UVW54QbG51gnbwD2DNQPTfULsqhykMRiE5K0QRyDb0	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym96LGdyqIncBlnCfznIKvG09vcLR0cSQunO+Ed3EO	tde:AWyx8KejPE5NfppRCpwvbY4j9of23iIxRDy7v3nidOym9+YxywtrJ/iIalXe6jk5vpzwb3KBG5pa8Jcb9UDOek/YzQC6ZT0=	tde:AWyx8KejPE5NfppRCpwvbY4jKCYEqDptRb+UeoRaFO6W+hoS4kikTCN1mfNhdJYahjFZXxQPl6BUV4CFA8PTE8/9gK8+tcWd0PJuB0lfgild
\.


--
-- Data for Name: v_text; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_text (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHghdHkEWCrxwi0ktYtlgcznzDlxhzDVXC8hHXGI=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym95gTHddmATQxesc22EBBA1okjrv6ihISKLso6F8RLOXQRMT+KzcckNez0E4my0FJCg==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym96jFUhucVKODSk3aM8FzkJx175/NwkfAHn0zWn3lg+IB2gtMpcyv+nRrfMFa	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHgjDofHI7LhsONBIE07284brAbmcAXrIslT3gYo=	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHoxDcR91gLGouXoNtsBel5WFcCMhs8jtzrZ+nYolWkvhhakaInw=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym95hvFt0xVFSir4dIUaBb6OFKiq4h14YB/mFi8JxxO5O5qkCbGECcF8hxSMqayligLg==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9xzZvCj6FHZIVwPWPp2e/uq9TaN3fCWuq8nqDthmOhxdQybEaTELKN397Vho6Vqg4no1lEWf2aSTHg==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym96iW7SRf0lOdAeYSUDZ04/wzeHddnUHfsSE7etuqYp8rNYXCGzKTGRy7keYv	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9ywPyxfx7MZbQOwI5RwyJlK9nuMUSiYs7APZ2hQ/lj7NXJupLec/ye1OKxaGZxCmPPiy2E+R	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHsQ/oj8jvQeN3t11kUQa3gietMmcmg==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9xArgpyRNdqbyZD799id1jTuyHIpJ2f5EMQwPTD40bIAIqI=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9yA8KLCMEZ4jRguI1D6LthpGmAoxKcoqHu1eu39NYA==	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHsQ/oj8jvQeN3t11kUQa3gietMmcmg==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9xArgpyRNdqbyZD799id1jTuyHIpJ2f5EMQwPTD40bIAIqI=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym91TsMsDWHEe6YvUwwgJZdv1VHagc2vh7ZMAIen6IzW8B3otJIVVIBQKS	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9yA8KLCMEZ4jRguI1D6LthpGmAoxKcoqHu1eu39NYA==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym92TP9OuEl9ga6Du3GR3r6rmmhgS+FQRGC8Cki8yRvQEQ6dmlE2w=	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHokuHVdzIsw1uQc2SekFXeKH/mfrVRkocKywSbM=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9xmiuzVCnBzcGbQsJyAfsUdW2PCcKZeNduIBdR1lRE2tPjoEwpF1naunhFmGJWfkSA==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9ylm6+3NAct6LFZP3zFX4XjMB2QppU9vsyjQdVIiP1t6c0EpOQs8cVTkSS+d	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHolO+DQ/jTtwU00P7BLtSvGgEV0EXP03IQRp6Sk=	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHg3+psTb3ifu7AkO2m3BPwJIbuWEeurc30HDno/YUxFvrdfDKmU=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9xmTCwCYmFTh+bkxT1CYn5W6yg3Ams8pmNgqHL94+nNHRrboT24AqC2zPDUcWzGZIw==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym951j00XqOBDKpjp//CAoeddi/T9Kc1BlyFJJI1LQ5M8WmE9PSyAPQMt+oVfYfuAsW74AO9Jnh0hz6Q==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9ylBtHb9OpToaugmTOzzpD5vGrWJD+U854Uon8HYwFHq0w1oBRik02SgyNjW	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym962as/ZjHUoITyn794OuQjHOvt+zlYM6oNMa0GUNOjVDp9cyG9dwM5kV/4yuqEoulUuf/TRR	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHkUHAfkqpxqenTo3KvRkE8fxm4av4Q==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym95ELde+OF4R7Y9eWLsOzbBvnboxaQZmOKkYEYpNo7uePNPs=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym96FUjr4u4M9NzRMJ8ZRFzgGzFKo0wsgANKIsV5fKJw==	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHkUHAfkqpxqenTo3KvRkE8fxm4av4Q==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym95ELde+OF4R7Y9eWLsOzbBvnboxaQZmOKkYEYpNo7uePNPs=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym99V9BpZMPl5fiuvf9wZuXv4I46f3FgJio9SRknXlNtsYQ2MTbU6fr1rv	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym96FUjr4u4M9NzRMJ8ZRFzgGzFKo0wsgANKIsV5fKJw==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9+XAssG/LXXp66vMWjIPrCiGONT/qSzPMHFhZ9gvLn1Rm/pOaLw=	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHooW67h218K2BycqGiTz+eSe9DOUyg8SBugynao=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9xq0+SSTTYqXqmt6SqrTB/tDkxsXXxzk/kXUIy6IC9GqP9LdT4nJeK1W2vr8+UXA0w==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9ypDwn5qqFfdJfJjt06lm6hfrTszcwvFuUnAnTvnRCkxBcASJcy8+3t7ZYT0	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHooYKTzkrKy5kFw7/SQsrBmg4mcWfivS0QSfC8M=	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHg5uFNBtAaJJhKJBWFXDKZpwiNn3uEe7PziD0XRVrE0MtP2Iq+g=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9xoOTLrxaI8vTuUWLce3NuplLbv+q8Hl0pG2/aOwHdK0/ynQsjI1I/ND/q8JXkWbfQ==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym957/98zLiMmCHdXGJ8SCw+dYmDvq7DV2lSxvlRkCJwEeRfWFpR3B+jCxnfEpDvRba2IiE7FMOI7akQ==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9yoahIBlrPdp7L0AWRV05xZmVllNjMJiP64tVeWvxkkHWJ9xf7uczQGmtUo0	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym964zda0tJlIQo9JHtJ59AYoyZ1K6qS/EtGOoXBvS/0unaQX5eNKVJomKR/UeBxHswFjHkZlc	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHkbPhUuu8ksq6yj9URgN98U+k96bXA==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym95K5oJs5JgPrETkVMO5ULhlimeG2C6K6UIvSqbIzKiKAOuY=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym96LvHFPZ6fCZStG/SYqQqBvOlWm8O0HGSkLEPO2Fzg==	tde:AWwMjW+1fQxLQ5tXUrLyptehiEglSoZRQA6DqTShi0XjHkbPhUuu8ksq6yj9URgN98U+k96bXA==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym95K5oJs5JgPrETkVMO5ULhlimeG2C6K6UIvSqbIzKiKAOuY=	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym99ZrWXfwaMVa96MtXu8NXg6EDUEOSwUiQYZe/hkqN1FOcQz2sq/uhgc3	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym96LvHFPZ6fCZStG/SYqQqBvOlWm8O0HGSkLEPO2Fzg==	tde:AWwMjW+1fQxLQ5tXUrLypteh9of23iIxRDy7v3nidOym9+b7LeaoXzumf3TfhVB+dYdLvp5YsR7XWZLQXFUN9zK7Jk+9zxU=	tde:AWwMjW+1fQxLQ5tXUrLyptehKCYEqDptRb+UeoRaFO6W+hqwFBTGACmGst2xTxcJBYVPlnGo7TVYXtAp91gvvo3DmYhXD/5su/6QELKbd35tfw==
\.


--
-- Data for Name: v_time; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_time (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHgic205YIFoKuncj0MRp95n0RHhLmrI8CGiMdw==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym95hq9nQiLmy0cK5ysCtslQyFeba7IA/iHGhC2brxeMgVOIdzDwrh13V91N9DC6+d	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym96hrIRdQ2B5KWpY8eVZgSA2MKDBOHOjv0JlD4E3QNQjV6uE4AD6PcnJtMgY=	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHggkv3sp35Zc76yM+W/ZJGODSNdRYIHGaFAhqQ==	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHowuJ1oYLV3ErEvw8ha0zO0N9Q+6fzmsZtvPL5RzRJG2K+bTpqs=	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym95hom+tsTAoeZShDuUH7sC/QKsMDIq1pAJTLqTbbZMYs96YP5cqxoFG5bbqqvZyV	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9xy8R12QjG3bW5dnOWxHBYRhdUS5Xjv8F8hhqw4rvtbHucEiKWSOmlRy3PZBNUCw73OEQwBNqULzOg==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym96i+rxzSw1OKlTsz5/09l84vudnLT4JnS3IN9EbT0YE9VvzppajfUed+qKU=	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9yy5huOHeW6hI+uT6Cx06vM4ntA8fQdjaZFemw95LzNZQoEztYiUAGC7vUDDPoz5Xx3TTzIa	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHsR3xS0UTdpsyLs9zo0H2gTv6bKY4A==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9xDuLMlpVdfAl5UWXGCekQItUltscs5WRi9PQ0GScg8RpA==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9yDmM8smk0qRxQQg/9aiZ3O7cVPD+YXwLASB21xi	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHsR3xS0UTdpsyLs9zo0H2gTv6bKY4A==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9xDuLMlpVdfAl5UWXGCekQItUltscs5WRi9PQ0GScg8RpA==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym91QZX5l9DlSPzh+OGqI+y8V1BYmIIsq38NDaGzw2U21pHkA7kFu6YSEv	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9yDmM8smk0qRxQQg/9aiZ3O7cVPD+YXwLASB21xi	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym92RJ8e9mD4LSglyr3KJRlI8ZbQvJNS5nbIpl7DucFfbeO22lMDY=	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHol1klZ9iaiVegzlZWFHvCW8Wr70u92ONUWjLA==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9xndIngE6Gg6PBI+xcs330yFr90hWDyOU6k9KxrqxhKm2ruWfPgEeo5X8ln9uuCA	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9ykDfFC7XdxHeVg4GXusvDxBpxH/1WNmRvXmgJ7IvV1H9Cv+y+2Ib6BFlvs=	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHomrMGo3uf1Vz7d08hbmM9oOq8JnvcrB8iXA8A==	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHg39jRj8gUdS6OYCpOT/dUVI+HZsIYAARcKXDI4viY9rqC/uFv4=	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9xkwPF4yJrcZsNYeiB8ktctehhOBiJLyNv+0ZR6FdeMOoz/7+qy+f1JiDfFsuP9o	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym950daNr1u6rffEUirCYO9smBE3H7m3CB/zgfj76Qb4/ghmIbzjowPfdVokvRfZirC0xJdjxwi3Rreg==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9ylxOtxlIOZoar1BiXNRgzLrjxfOBNccAXhKxk3W5lxC2AXR4akp0IsUO5Q=	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym962jI++NB59ueE4JDJU3WyoWd5mjoYxh3Rj4kFRSgzqiIanH8GJiyTGrfOCuAuQ5RPC9KCtH	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHkXfyja5Sx9qT74vkWlssl5PEpkHgg==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym95F4xXLPnK6FQ4ND+hHjkZSXQoJJxkSkLPmpVMlnLBXq3Q==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym96EcS1QiP2wL+CRcEZ0aKmg2lA0bLgbrH/XObUH2	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHkXfyja5Sx9qT74vkWlssl5PEpkHgg==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym95F4xXLPnK6FQ4ND+hHjkZSXQoJJxkSkLPmpVMlnLBXq3Q==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym99UZy5iXkz1ju1Br05WzyFmXJ/vzaTkKnUJzzf3XllZCycN8Gpg4rRVB	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym96EcS1QiP2wL+CRcEZ0aKmg2lA0bLgbrH/XObUH2	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9+UjZhJZktou2sNrSAe3UF/h0C3qSyPpeUJbVE0MkdJZSy1LHSo=	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHoqS+Y7rCaxOBfDwr87k27EwMpKZNzfrYl4sfg==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9xo4sbJmsjlg93YgrwJTs6jf3iZVRscgk3APNs2eRxixlaSLE0wHpifxoUlCgp9e	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9yqGDcY/TceWMetEsrxZcoTNyUVPYxcTtPrAJjQuaoVipaXpDeYZL8w8Lho=	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHopSEz69RuVIqjAbn+wKV589L1iH8w7v41b/7g==	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHg5wHfQ4GMnK8fDbD3+Hb662xzvPyKH3ilEqzZWtQa7MYlgDJns=	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9xqy9IBhDRc5S0U+BQj/lp25MDe+mwmdkPj7W/oxasdZ9XLJDFyZm5Bffaux0aeK	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym957MI+iMAJYrb1sD3zQh6o4a252mFvkqr0T5D0X2Qo/MfSF/PXraU3Nja7WSEvzkF8sb4WqJFbtDtQ==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9yrxSdDLMduXCtMtLewvZ/16IsS8LSSwwXuxKVymdCtP+YkTYX5YW7vpzi4=	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym965zPenJsogZwCLGK+yCB0pu/hV2XiRdxY1+/+HV6JnmqrqnS81w7l1XUh8IzIvri596FTem	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHkaKvRZeiwDlAYgcju6Yv1sLqQthgA==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym95LMNb3aqASjN28f0/jk+j5SIdGbrUO+vOK9lTmUnuHgrQ==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym96ITimMzTpXo3ChWgOknTn2RiA1kVX7cmPT3DTl+	tde:AWwV4vOktcZNfo+QobLD1OXeiEglSoZRQA6DqTShi0XjHkaKvRZeiwDlAYgcju6Yv1sLqQthgA==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym95LMNb3aqASjN28f0/jk+j5SIdGbrUO+vOK9lTmUnuHgrQ==	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym99YWF96RBtYROxKXt08Xs0R40RTS/GtqiilYAVbzjCi5W52GpkuE3TOl	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym96ITimMzTpXo3ChWgOknTn2RiA1kVX7cmPT3DTl+	tde:AWwV4vOktcZNfo+QobLD1OXe9of23iIxRDy7v3nidOym9+aG8R5/p5CqENmFyQETt2K/uiLzoIOVTs6Et4xv+zPtFMWgCJU=	tde:AWwV4vOktcZNfo+QobLD1OXeKCYEqDptRb+UeoRaFO6W+hoHVMAigxXrvlZRtI8k8sl5ADnWZuoyewQGPAcSXDTNARQ9GHK03bukjpOsiELX
\.


--
-- Data for Name: v_timestamp; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_timestamp (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHggbx9FHlYgYBylNRgXSkKD6zwRPWVQK8rSoNQ==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym95h3v11KeAWTN1ZEXkAMx03By+v5N8s/gvhX/T4/vxgoWwxNbbfxW4PZ1B7W3R+w	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym96hANwAjSKRYTgEslByUlqXSdvmUR8COa2ue9FGberfaLWoGYGMndMUGh5c=	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHggtQOwwnWpxtGb1YX5ZRecNDVNNls4CHoRQ+Q==	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHox/DVJ5bFQF+WKrwMD2CqBDp1gQt4ct3m9/PMNsmD6/shBbyi4=	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym95j5KHxfh8Q16x6UbXS8QCVv3wH/V+opRfrjqkwmMaqlntg99S0nxejH3CEbgle2	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9xw39r5KsRFCmTwXOljKE8XSDShz8LDxvlxawjDEY0Y8BakdBhUIxqXczUlW0Tn09OO2QaNrJ0lRkw==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym96hcHG1qrJOAR/sJcg+l0hNb8FwsieHiUg5i1hI/BNA+Gys4+pU+qvCEygU=	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9yyKg20X/FoEkRBfqtodg4+l05IxCAFdz24r8bVIwRmV3ysXX3NxEhJ2PpSn0lhX0u6TcL0R	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHsQI7z6Q9EvZMxe69ym7v62WyTQ+EA==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9xCpmmTR31Zv3cgTT1rXRAoFMuEgoGCLPZ81V/XIqklvSw==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9yCBnJWjemd65q3sLXbg6aTCtUAsMHOFpNuI8Myc	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHsQI7z6Q9EvZMxe69ym7v62WyTQ+EA==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9xCpmmTR31Zv3cgTT1rXRAoFMuEgoGCLPZ81V/XIqklvSw==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym91QHhfKeXJnrFxVwdMNtajwwnfmAd7bI1vUqArb9wKylOGE8Txw6Mrs/	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9yCBnJWjemd65q3sLXbg6aTCtUAsMHOFpNuI8Myc	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym92Q+as3utq9kYtq0xAYXnHyH4EZeUi+N6Ylz9zajhS3GYinswKo=	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHokZmfbbiV6Oogco+yQMOMygblCzPI9D0BfaWg==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9xnVbzhdQtOJmSc36u7PIpgahS/sHGQq/p7QswviRUwFA4RzAw+8WNSRTvHUHQjs	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9ylAMG+iVkBn+y5DIEb5SBglMhwxk03WVci1Jysd6zN9jCF9KWmald63R40=	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHomf/Enyx0ulp0QxtTk0M8FO6c91/cjo+V6Yvw==	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHg2AHIlq7iY9SawBhhuRb5ffQZia2gPUSvAswz91HYhvPSgy9y4=	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9xnN2ASyMckqA2hEgR+28z//Otdrzl1kOTX5oN2dmTR1eUdyF0/vnTnRNB4ZkAeB	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym951Et3KMo9p6uF58+yJSKloBAPX0x483bhRc9D+u4Q2BNbI7AWEgl6YR1eBtKMh+FgFpLqbMAp/Qdg==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9ynDamcA0RNQcy38ArEmmfAMeWREhjOSfmfIKgtIavdK48b935IeQTHJO+s=	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym960RYnFkc3E1PaRSNCz7s8X0fqiSDkuVvB1U3MaEyGPbK9ja08f97Ii7DQnwWXhwGtfQNo59	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHkUBgMayM+GFA0tiVN32k3tEcBjbNA==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym95GcVJuYRp72HPyakBY7xnlhUIG1bQUSfYm5bwkrXFrzSQ==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym96FFx80VYg2E35Us72ef0qLf9wx01FC+JPa1kr5l	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHkUBgMayM+GFA0tiVN32k3tEcBjbNA==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym95GcVJuYRp72HPyakBY7xnlhUIG1bQUSfYm5bwkrXFrzSQ==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym99XGaCw26ymGjlJcy5/FfRjjzMUjOpqBDU27Hkn+E2TbU6JQsls5ZO7Z	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym96FFx80VYg2E35Us72ef0qLf9wx01FC+JPa1kr5l	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9+X+fGOob/DZM8BwMdmyf0wd5e5FsqnHdMUS8iBufYwzuPTzcZM=	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHopwgqgVwJcqtW2Rdfb5XrbwwhwVy+FdREs3+Q==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9xpboCRiM/bkMDw7VU3EtkoS5r5T5MP6nWppu6/6apQgy6hR6panZ+iTy3ELFbIh	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9yrvTn3dOzqy4LF9ADb+DNA7ndEgo5reKvTyZgjyw8I3nYs6gMaZkmqhkR8=	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHoriANX1XB3z7XLjtByyy3SEDK7WkBCx00n/sQ==	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHg4mHRzDWMJoCaPzooY1/a+Lo7v7Yf8QkgG8G8/OxI/TFuKUso8=	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9xoYI5wCTm+7BiwTSRvD8C0VHFKCckH6HKF80/hqv0P+oH/bpA5HhRB5hiBjz2ZR	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym954hdbGOA8QBqEosF+RV/khSB5WdJOMElfjvVp5obI5v/JFso/fEVaM08pLIQ3LePqI1yP5WbVPP8A==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9yrEVlsuDGspXUdWJ23rKcy+bmMVhf6QNw6wpsIMi5A5Gwt9VDcxYc4+bIw=	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym964QAJq1CqIYC+mJach/kN9N9v9lkERHoW7p+W5i07cMHvYmNj94r3R/6BRD4Koob/XpN9Nu	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHkZMm3NWIhkUvwo/LFaa7Q8DdmI8LA==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym95J2mnUYZvG6AryJLt1+PZ3NidwJGk2+7+3n6f/pLwzeiA==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym96LBZFFQtLrk/3DVtdtdkpYlMXrfsdEkCpeiDC83	tde:AWzw4dLDtKVJaId2ZVRDMi8BiEglSoZRQA6DqTShi0XjHkZMm3NWIhkUvwo/LFaa7Q8DdmI8LA==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym95J2mnUYZvG6AryJLt1+PZ3NidwJGk2+7+3n6f/pLwzeiA==	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym99bhZXmDX8ioy/9t75HJT6GusUcaEsfCa5a/Rjaxq+HPuXKrG6T785KH	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym96LBZFFQtLrk/3DVtdtdkpYlMXrfsdEkCpeiDC83	tde:AWzw4dLDtKVJaId2ZVRDMi8B9of23iIxRDy7v3nidOym9+Ylsg9miqf2WS4fcvI+IdhYPTrfXdkcaN/0rBsw8hTswRhLlIQ=	tde:AWzw4dLDtKVJaId2ZVRDMi8BKCYEqDptRb+UeoRaFO6W+hpa46nTnUA4HqPy9nMgbQGbaVXYg4E1xnADoVO9x9PE2YGlcDaJ67VEoGVH9MDU
\.


--
-- Data for Name: v_timestamptz; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_timestamptz (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHgg2TVw4wKmDDWbnPe+ve1sfXy+xE47yFfRu6A==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym95h2Zv15gKrrizyqDwXk55Rby5JTbRAH906CZlDLDc+o7hdu4BgLVhOdaUqO1eCx	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym96gqaORonje9N+Paypoggnyyfo3NdJIBXO+rBd+7dgFMvJEZ8kRZIvvlKzU=	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHgjyohk/JaiY+zf3SkAySMuoZ0JjrKNLu6c+kw==	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHoxnMxJcvjfTJY7GYHJ5fBIyJLAdPGcAMCuvS14wry9KKwbdzwE=	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym95gLBh5QuDSTCvB2A74qAF64/TBL1x0ABE9EGFU6q13C1qy+qEFb6P76z+sqmLyn	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9xzfCEKGo2YmE5Bahwmy8YNeSiQOETus3b+8X3hJoiXy8L+BXcKSg9gLahy7IcLdIodX37vWNxyPtA==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym96i+mfIFH12RsLahwy5ZJP2G9fb3Nhw2SUKIuTbpZh0wXjqmSYUMLSJOC/0=	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9yxl2drKJFFz9Le8gPyc4zHT3idWIXmcEhEQbyF4l4BS/B73urfC4aP2kXVh348dZZ1gogb2	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHsSa58bh7hG5mkAC7QZLIZHyVF+Zrg==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9xA3Ino8RdF8Feyr6A21cRgrxi4eZ+lwtbZ9aSpvGGWMMg==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9yBPBk4IWyhwwRVjPPJhe55+zSQ6FcHS7vHxyXwF	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHsSa58bh7hG5mkAC7QZLIZHyVF+Zrg==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9xA3Ino8RdF8Feyr6A21cRgrxi4eZ+lwtbZ9aSpvGGWMMg==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym91SvrLN1v30ujRQy0tii8UPwEjwTAYnjMPZ1DXnuSBRCVlI5weqRCF9m	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9yBPBk4IWyhwwRVjPPJhe55+zSQ6FcHS7vHxyXwF	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym92SrD+pkbYboCk71P335T/nHinhxal79Ks8RHc93IAhd5MSuTdA=	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHolyJfYjs0hCUKZkp8EE5R0ElXiCCQfhoMOczg==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9xkeq3oUztP9egccD+HXcE/a/PGNuLQ4zuf6pllDNhsLhl6lJeQliAh9ZCu29Tf+	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9ymFhrpzZWqPsw0yaBmLKXQ3ZClPKihRd60gry71lADy8AuzF6SnqfsHcCY=	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHonx3ydmc+NZ7aQ5wp0CCMiO7kFOPg7qsEU2mQ==	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHg03LKi3CbPXKF1SUChhLhKVocmsypQ5zixf2Xrlfx4HdbXCZ6Q=	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9xmgCLqrUYepawFBN9j/ekexwVNyh/Uv4+jaOmSejLdYaTVZRHqy8noAo2ULccC1	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9502oBg1VL4RQJ6XU9eg5Q7os3y5V+z1YC0gD/4P+KZ+qFQHeqxh627Bw0f7nIbMcGId51kpHTDo+w==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9ym+UhiAxcyAOgU6hXm5l7rplLN8OhQIFcv9+eVtltK+r29UNLWTZGrVNmk=	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym961VmcR/ms3APjK4fMhW7WQvYw7eFGkKrJ8bUWI1qfe2tw1Og6tuemXWs9tZQ73G65mIn7Yi	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHkXl/vHPvX01FPPWcQ6X8VDaLEvPbw==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym95HxayFlOOsQAu1I8nafv9S9CYMH/2TzmuuappwD30O7PA==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym96F5hsjC+Zf2/FiSIa5vfMgaV611QpeVWiVBrtIr	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHkXl/vHPvX01FPPWcQ6X8VDaLEvPbw==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym95HxayFlOOsQAu1I8nafv9S9CYMH/2TzmuuappwD30O7PA==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym99WefFWYsKhrT7cGYKHl6r+JNHrLndhb4Nb7iWP2Ack8NDo7edIFEvUU	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym96F5hsjC+Zf2/FiSIa5vfMgaV611QpeVWiVBrtIr	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9+U7hX5JiFKrgZKhg/GZ/KaXV0zBPOuhZ67jVYQPwKGbFiCrY1I=	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHopkSQRgCRSWKGX3XSZA26V/OvE0RQJEi5voWg==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9xqiTQDceEfvf+6krcwV9VzOiCz0wZTCl7+PVsExPWu+vWZjRnQwrEgWHrN1v3XN	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9yoXDEl+JOCIid225MqMkZp0SbA+ANH7Bz5yA3Pf4/H+hNiWVRwp36Q8vM0=	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHoqDCCgtiI1kNQYS+94V0N5Y6619EkfIynPqkA==	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHg4dHY02NwIW0+eNxf1+CFckwHlwCALJtBmMh/9+qv9XmCPp/kM=	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9xr821ex6iy0PtDdTQqk5ttTy515+1fTr44S0sBFz5a6Rmt9M6z+P2wivI1gHZlV	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym95716Q1Ow3fI4u0mcxsyUYEEg2Iq0PL4H4KVebq0s1H4A9j0NSX9nt6EgD0+XObvkh2ck++EqTQVHQ==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9yrMrZH4ZysHnzZblXosYG+IGl2oUNdcH8hJ7uM0FWg6Xq5TePHg2umKOK0=	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym965LdSTLnAhOkcrxIaMpEggNhhNBJA3Pj/vhbP1wnwleZkBRMW7h9d2BfXmcu+WK08yXX49n	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHkaj7LAEb4Q/tmS20yWkE4tFFXXnlQ==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym95IGno7TXbH2yPNCvaC+70zwPr+keGdMwuo4Wg/UOmdeSg==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym96KSHHw4GTSZI81ieqg0NUJyReCHEA4qZg5KHb3e	tde:AWzYwbCpLj9KW4x9Hw6djHtniEglSoZRQA6DqTShi0XjHkaj7LAEb4Q/tmS20yWkE4tFFXXnlQ==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym95IGno7TXbH2yPNCvaC+70zwPr+keGdMwuo4Wg/UOmdeSg==	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym99YnvhYvLBLQC17zuZO58UBHtj1RusvGA6QwYyz5xgAthpm5UDXLorSs	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym96KSHHw4GTSZI81ieqg0NUJyReCHEA4qZg5KHb3e	tde:AWzYwbCpLj9KW4x9Hw6djHtn9of23iIxRDy7v3nidOym9+YARgU1KHo19WMLRvu1PKdEVWQ+wN+wlSi40caga3ClUCwWu+4=	tde:AWzYwbCpLj9KW4x9Hw6djHtnKCYEqDptRb+UeoRaFO6W+hpTmw1C8CN0ZCqoAPya9KXUnp9nBLW+isrqTRZMs/g+0/J+/3vXlItq6TC3aRVn
\.


--
-- Data for Name: v_timetz; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_timetz (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHgiTDekiwII34U/w2FLpV2NZ0m+Jx9ogDbJZ3ab4tLk=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym95hjCFYQq726DbEgRnBqllwXpgFaxIWWVjFEDahaxW+VJzN1fddnnYZDLbP3jSkUrC3Qug==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym96jHYNvCit6AzpPSn79d/LVvolX3qvA7vw/E1gxzf/PHnhiJWDTC0n2Kba4eZ1t/	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHgicQ91ClOaDkSF6COiodnENvNdselCb16TKSCohsnY=	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHoyT6chkpoZXieLJING8MGFH2NOkfxJsPXNAU1253hxWTTNzL9c=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym95iyr2ijIOM/s9hCBi1BiKXC4aTo/TKAQemQun9V8w9ZW6UlFJLPmVQjxw9nVhV5prTp5A==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9xxQHQd9AmF/NNmndREn1kBVObt3lDyTVrNAkRhH6QuYoSC/z/xREtva7w9uDzypT7usEcBG6jBoow==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym96jYiDsUlZx8oTEuf+n2KKEx24ftr1kslK2Rv8DeV8nO1bBWna5X8a4FghiO4H/D	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9yxPfF5bPdPEOz+8cMECRT3IZFuIcO7xZ2Z6zQQZz4VZuovDzMo18MWG+YGERB2Hm+5JugCL	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHsQQZxP2IXyTXVNxkcOaqSPiE4nyBg==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9xAqOKvknIBrVol5XWqBjF7gC0O8x3/LEHphdIE//8zQGMlQBWI=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9yAbpSYBK5mtJ/L/5c+rEpcaWYrxJzpkazMAqSfZJRJwOw==	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHsQQZxP2IXyTXVNxkcOaqSPiE4nyBg==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9xAqOKvknIBrVol5XWqBjF7gC0O8x3/LEHphdIE//8zQGMlQBWI=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym91SXNrBNOq1ka3SO86+p68bNHkszOEr+XVXO2jt5i6ShKjCuqSX1ViH3	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9yAbpSYBK5mtJ/L/5c+rEpcaWYrxJzpkazMAqSfZJRJwOw==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym92SclfgfkC5xJSKzu8sOOCNXsphiLpii/tdUTT4g0TDVeTk6sfQ=	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHonrMcqwFutbc/aHphqhU+zCQ6saHzDL6TjBFx8qq/U=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9xlwFudjL3Ir3j7e6qINn6X7z6R4sMH6U3lxK2mI8GivAZ/qj639swwP9P4cadbbkMzsLQ==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9ymqvJEdKGgn8QkSl3i/NomNyyQ2pt4Z8k+Uj+m1N8eqtyVyOr9lAZ+r9BK7LWG1	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHolWfyXinpM2RIKSe0A2oIg3PVujDLTs+4IgOKoFM/o=	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHg2Adm1lZOWs9gJEXRK7r7Q/JKSwhYQzUY+n6PhYKfOHPF793Ks=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9xmF5WvCYz6+gDAXYbfvG6u756hOXfKIdF6zOmlvXhSYuGsVRq4IX2icIpzOzk5lEDP0Dw==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym951WonuXm0d7FXz2NP+pztlui9bTBC9kj9Dq07oa5dwJHPK7BBpzbZQ7lyaNRr0nPRDNogTbpF/JWw==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9ynPdlDxSJPKhNKKWP9N5IeDeIKRTLHQTYlCJLzIYuzcLjcHRtD8S6Rwa6yGAlvD	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym961Rh8tJTp+0CzjEQG5BhPUelISKekwm+P8VudwdKLS7Oc2/X5qsIl5X3z0GT5698gigN0F+	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHkUoqVHsrMKk0VX9mzw3IHqJ0U3I1Q==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym95EBiz+QmEjfwACY/hQ/7oqraX+7Tx1obJNrav6D2th930dJOt4=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym96FogRSKJpEDU9SkCthRAYGril+oXcqOyQGBO8Y6gwf54w==	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHkUoqVHsrMKk0VX9mzw3IHqJ0U3I1Q==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym95EBiz+QmEjfwACY/hQ/7oqraX+7Tx1obJNrav6D2th930dJOt4=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym99X+iVALbgrqDP6ro8lT9NQteD5GfyDlCyz4mMg+d2oBw074ER821ack	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym96FogRSKJpEDU9SkCthRAYGril+oXcqOyQGBO8Y6gwf54w==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9+WR/Ier2G4wBEHovCQZJtUY4ITfeG3FXnYT5tocjpf5gnDbnj8=	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHorew2Js2qkiaFjQ5jtlJqKpeGBAaeBGv9CcrNQQeyY=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9xrmbgojEp6XTw/elP/z8iNc47b8CFsRA1XNAAiz1yZiY+9Sf911DtnLfhmT5subk0NKBA==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9yoPMKXMigu7QitqeOh7M9HwaBS0nKumzkenKOg6vwx1/tG2APEkwSmYN1dKlm10	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHooCWvJKBosKHYOlRIn0Mnzv6Bd3+e1l5mJOBGi3c/8=	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHg6kyJyPEZsycMozr6t8m2UPtbf23vPgh1WQiXNK8pp+0HKjmTw=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9xpzmgrrAQY+eovHEl+KtEdvjgwvpjBiudHsvO4tmIun17AUkt0L0RvATtMB4UH8JgTMMw==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym955Bbm1EsoB/SZrCOlWaTcQAQHHC0XK9xUy2yjPfg6DvblXz88rN4N2J+Y2nZRRu5D0yvgDP1XCdpA==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9ypsQ1JeP9/DV2iod5ZM60dc50l3O3WNBvVjKXIQmPSCHS4vdyoTCko53N1robnW	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym96756lAAX4fUIomdv+hz75bURgMLrSXF37y/paOTZoASB0AJVc7QLzqEmYa6pet6JP430lnY	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHkYqk3geq+j8tZuWb/aXlwRVSzkv9Q==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym95IAqQ37VuT/ZBBda4pZZahPqbOt1N7RpPoFpCtlLAf35ovoPFI=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym96KwI/yyoILFZsXBZUBChuLdaC92oUMxPBwQZLhq7GNvnQ==	tde:AWxqe4yd4PFKK7PE1eb3qLnviEglSoZRQA6DqTShi0XjHkYqk3geq+j8tZuWb/aXlwRVSzkv9Q==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym95IAqQ37VuT/ZBBda4pZZahPqbOt1N7RpPoFpCtlLAf35ovoPFI=	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym99bVgYpAxnc1zE1j+3ZAKyzAD2EnSLW5GpkkgwVCF1MXwjwHyCh6Lpod	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym96KwI/yyoILFZsXBZUBChuLdaC92oUMxPBwQZLhq7GNvnQ==	tde:AWxqe4yd4PFKK7PE1eb3qLnv9of23iIxRDy7v3nidOym9+YhUXgywUSQblcd+H/+o9OD+OTMQrR73D+YuQGfYYZjoU0fSZY=	tde:AWxqe4yd4PFKK7PE1eb3qLnvKCYEqDptRb+UeoRaFO6W+ho9cwawOeMsobCPmirhCHmUYjdr8UFEV4H/IM8sGj5MVey1PdNIGADEvijxmWQlRb8KhQ==
\.


--
-- Data for Name: v_uuid; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_uuid (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHgi25FuJPLelMQlkwITHAaH/bZDGsACEOuuvtgQjP1Fu4yRq	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym95hclLQLXeFFoZHSS3Ep8cGJGLbJrgRJDpN29/+5ER0ADDTQPY3/R0JCpXdtZ5GP613j9iWIu0g=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym96i1EDAtVlZnMI2+LXFCYg5Zs5a2CDNn25j2u6IDEcbiFMHtapEQAUm48XzGUrJIsNv+ZA==	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHggaa5N8aw/uai6T7PRooy3q2yBnsZ/ljZ1+OVF/e2o4N09w	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHoyf4jgu5yoQMX1KR/ySbF/NXtgaoe8mD5AqEDcctn7sD9eXwMoDKxRaYgfg544u7gRnH9HB	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym95h04CY8zZQsti4HOyjnN8XBrCP0NMuZzIP0JZzx2S/RXU9mRVBuqlyz4iKzkZGu41sYJ0u3qo8=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9xzpdsaDTtDokMYtKJ3HSMvrt1CPDCqBv+ujgF3TTqvDLCK8vlMhwtXs6w5UVWhcbE26uzl5pXXSBKjwD/l3EUMS0EJum4qthJ4=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym96iwbjCWE3I2ckSQQGqb1IRsvSA8HU1LGC5Yj6tMOHY9V06Bgo9o3ZyjYr8ptL437Phktg==	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9yxsM26EKWDYGGX8HFSVYn5tO9l4HigFxsj0lXhPhUWmU2lmGKetSsYrzcKhneFOgX9htI2Ly3bl3Cvoy3hr7kpebCHOMg==	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHgSw3WTP5+wflVTPh9I7NYkFPors8A==	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9xAbEuAi81j4r6yZyro9v9pQlrKiiFUvSmmTCFGOd53DfFe66hFkt96H	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9yDVQVyqZJbsJezd46xiG9FMPMziNZH8KluneUn6yguM8T39p74=	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHgSw3WTP5+wflVTPh9I7NYkFPors8A==	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9xAbEuAi81j4r6yZyro9v9pQlrKiiFUvSmmTCFGOd53DfFe66hFkt96H	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym95QbjsrpW8L2EmRrVmofOV3Ix3lTC2kDhzayQT6M2h+HLkymovjqA6VS	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9yDVQVyqZJbsJezd46xiG9FMPMziNZH8KluneUn6yguM8T39p74=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym96TGtuuZHibeKYfxGoVO/7pZr3HEnTJLiD3N7OUVVAHy8gJSwf8=	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHokUwriWgnzKHZyk5Gy5T4Jp9gK0/1P5Fpt0gzRg3gJCM0Yk	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9xmtH/kkMgvBcV/BnbMTBAAXOQmwtGllY0O60aQcISlgb0HshhEH0N1+c87RveduspII8SlKino=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9ylB0QDlCGQAY2HFXXwBkOcCP16gfsznCAl13UlAgLVdWLjz3tyIOrYBF+Ejja7LyhrZ1Q==	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHokQ1hKWqicn1ZrW5jYQ8AVY8UvD1pZwJZZCU27wsTDNjrja	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHg3yx7QZbHQeAnc/rTnUzOp+e5JPAP5sasBFmTNPTJYNyLXNEtcS/2DPorWPgOv36joknLHS	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9xn8OqSKFJ7h2iVuiMg3lF4107PpNQ8EL95pUKxsbwcvoZUYa3rbw5JWLb0N2kLJqfuA9F8LXCw=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym950fnPG7Y/NpbbW3Diu/JZUoUheMbVJeP67uTuYdAxvTIPN4t4r944iEVI+EANbSfqvDJzxKPYxgLGzo7B/+Uje8iBOlGM8hFaI=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9ymGKTVGaiaGLqf5xiIqFxrqmTMRGDE64YQsfF+nrZZXMJIFZ3VBu3uzBWyT06bCVo7xhA==	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym961ZZNN0V3y0Kn8Ivz9LpP8orUD0sxxQ4AOTvNuj41894Hs3jQIiGuSu20/7YAyzd4yiq9Xzg+C4oU5Z5xaWidrtPE5ddQ==	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHoXBMd+PTuBoOw+9eEewy9N5/pxK8g==	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym95EGpeZ2n4L/DuaBtgYiSWxlzvklU33kRfIoxCkJzLxRp2Vunm9Aglys	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym96G2KeBv/50EkJLLYZjrpMWNd8XLJm89k1ByO5j/+BNh5zt2OA0=	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHoXBMd+PTuBoOw+9eEewy9N5/pxK8g==	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym95EGpeZ2n4L/DuaBtgYiSWxlzvklU33kRfIoxCkJzLxRp2Vunm9Aglys	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9xUyerNLQrWMDh5liwRTVCjU/599Yh3yLT3FWRZDjMYzcVc+nbxsDDaC	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym96G2KeBv/50EkJLLYZjrpMWNd8XLJm89k1ByO5j/+BNh5zt2OA0=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9yXd/AWY3MgpdTPnKERLUULoFyAWD6A1bYaL4T+qimFQcUIkLRE=	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHopa84WZGdJ/8oHk3E7m9HWk1BhUh3CMNiQczdAEkUZNZ3bY	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9xrB8+9yvXkQ/fuWaDkInmxlH9MOAuHUkvNYnOJX72MmSsGNTX65P61mkY5PqRR/shd7M77GDcA=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9yoy4Voz0kuWNv+0I+I3pZ8fUH4sHL5JJ89k/UkITxhtWnrAWd1TqIYF/CP1WIvPM0R4fQ==	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHooOjB81aNepBY7SKGyqfWJhF7d0t8mP2p4zRXFFx+vhApGT	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHg7L5KXP16nvf1uKv4JmewziB7+poA/QRSW2bzv6ecuxjNZvPhKICPpJ6Tijh0oBNGFn+aqF	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9xqftdIHKW+jDzDofBgI/q6b/IKrsHd1FoMRnBiplNeeyTLfPmIcyPYKzb79N2BwN7n++ihA2Yg=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym957A4O69ynua35GWE70xLd/+K64o3shUjO1YFbjhSHksqBoG8YNtBEEixqBVBJ2AzyTnRxcUt5oIZqoCS+HWckcYIyb68Fnuv2Y=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9yqLUPRRjQ1YO2/qYb36iyv7f26oslRNkpgrTC5x1wQiTtC1Ph+5TBjqpq7INvNt/B3S3Q==	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym966yuGE1nXXRnQwFEQ9Whc3jZw3/hqbhZwrFAM85944hPFDQlb8UT+lAmESv/0TVYU6eQsmu8iduz6DFWIecVhDh/16NWA==	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHoZHfF9PY4jx5Y7MmCn+rMwOFmrrAQ==	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym95Lmyam2ke0TmnGrij7jRt4GSt34fsIHZGdItYRVTj+x+9qf0DbSbVCm	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym96IweKXVCg2aMxRsk6e262OD8wKLFNMzPAYN30Jr5eezx9fFhG0=	tde:AWyrEs0071ZKeIuQHC0+T1ojiEglSoZRQA6DqTShi0XjHoZHfF9PY4jx5Y7MmCn+rMwOFmrrAQ==	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym95Lmyam2ke0TmnGrij7jRt4GSt34fsIHZGdItYRVTj+x+9qf0DbSbVCm	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9xY1sfQUnhgpvAFEn76occD4vrlrsrwCUpZeZtmQjqCugPot6dKTLT14	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym96IweKXVCg2aMxRsk6e262OD8wKLFNMzPAYN30Jr5eezx9fFhG0=	tde:AWyrEs0071ZKeIuQHC0+T1oj9of23iIxRDy7v3nidOym9ybjrBxwNXpMwf00MD9kkh61MnOdZ7yRTkVnfAfGQ0D/N+KXRD0=	tde:AWyrEs0071ZKeIuQHC0+T1ojKCYEqDptRb+UeoRaFO6W+hro5ZN7ClMOQBfvGsa4mmz74w1bkTELaVhsPtJwk3yNu5O8RBivOvNVcBbTfPNHsMiodbjZB0E=
\.


--
-- Data for Name: v_varchar; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.v_varchar (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52) FROM stdin;
tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHghdlpqula9bAvh8gx5fqTGmzI50qkrBm2ak7ZI=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym95iaCZBUdnYMwGNRfDrLf5Zsj0xr6AFulpqJiNqRCrEBlt1V0PIov11XW+NwCwPR7g==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym96guxU9VIcqmWmWv2Xi7skoPUIetLDZwnqsrNzR+4ZZRpHASCupNP9hle1WY	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHghhEjyGo4UeiuLRLDCs+JV2KWGjzhZ18gqypi4=	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHoyQNSq4/XMjefhUXd/2+wrPCkV8FTkuCpacKtA1xdnTlPqQa2M=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym95imO9KiBjzu2670GZHeu+eXNRV4r3wsQ3UXjkzmB9xF02DzdczWScw9YNYQsQPlNg==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9xzlmmvAT48ia3MJ6eR/mp1/OCvihcQcnCkq3geAoPJVhdwPJKbhqwh1RcVs4WexOeNEnD+EoLVXWg==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym96isDiKQQh+l7E/sH1zw6WymrlNlqgGt9j6HcH3qRv0u1JCqltYAuHOUZNfd	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9yx2qGBUIv2El6fv4QDGVtJvKr4IloYcUZONJQD7JhgY1O1EyhAnXQbyIVHgSHudllUSmCj9	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHsQ4errO6tO0dHrPT7pIQFS4ki77tA==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9xCXiLG07vFFsKAmfc7vLz9Viq3fkiY+HjFVam3yakn2fys=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9yCFUMZQNsJCPyFf0WR77dE7xMB226poA82hRvt0GA==	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHsQ4errO6tO0dHrPT7pIQFS4ki77tA==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9xCXiLG07vFFsKAmfc7vLz9Viq3fkiY+HjFVam3yakn2fys=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym91Q/RfMDFBfZYstdWFwaksYYJX/zjWSIVIQ8LgZ2tfkpyXFRlJrK/qT2	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9yCFUMZQNsJCPyFf0WR77dE7xMB226poA82hRvt0GA==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym92Rc6O6sVg5WAp4O4j+EsuAC4vIk84PzjL9JVCgEdpB92fwJxP0=	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHolGY+ROPxyjU2Yy3X6WEeEVbZ9s8HcMoQOmNxQ=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9xltFzmz4BbK9vx1KOPQ56GPOmKU1B0427VSqyXshDGtKjodVUj+u6WEmN1ug+0yQQ==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9ykN2B7GNlKimv+PZdzhs1usBZQ6qiug6Zt6+MjmO3kBBfcbFQf0pIxvXfjK	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHonJ6Vs2rPwSiv6ASx2GL/kaNv64xqbONYnSWiI=	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHg2/WD3/tuGLHwlYG42BDOJj8SZuWIskzc7vtPdnoz/uITB9WVw=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9xmI3MTFdkvv3pY+PJJ41Z52J96+HaRz4os0cV5qO6QQQfFIEInSpdyRiZ3LjpsLyw==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym950A9aFIfv6bARwnpTgofGjbuZm1bvA4HNFqZsh3w+2JOJJX9gfX2Tn4TgdoLwUgfZxW9QUIiXOFYA==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9ynL82ZvAnt/jSyjd/JpQQNfEUn8fjLyQ2N06sU3/9Ba03zuJvLOchJ7hw9g	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9609l+IzjNH3Fccyx29OY5P7y6nQeKoFqJlFrBkjnLv6v0EN+NyISWUwJbpZQCT+i0CH3ptG	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHkXWK1eLUQpvba3ca4BikeFp71OQjQ==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym95GT7dxYiyY236gnnnmiAjBv+69KK28OBChch5JlHoQtYCo=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym96GYKXs8GN6eZRgOGXgI8s8it+I+kwN/rdXfO8BRoQ==	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHkXWK1eLUQpvba3ca4BikeFp71OQjQ==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym95GT7dxYiyY236gnnnmiAjBv+69KK28OBChch5JlHoQtYCo=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym99U5gpl6HCibFSOTAXeDaZwJOh1V/GJtJzuVdBQ1Q2izNxJ5AUAL2g4L	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym96GYKXs8GN6eZRgOGXgI8s8it+I+kwN/rdXfO8BRoQ==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9+VAYjfKA5Xdi3bg36xHw08HWMaYWOCaMyq0tjhaSZTLpY/6uas=	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHopP/lKmqWrHHveEgBjnanVyb6v/Udy1mQzrSFA=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9xorhTd8g2/PHEvecG7WzirsdHYKIxJxn/w0ZvCIkb1sIyWa2M4DnxUwquvqP1xXHQ==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9yoUX4t0nPK2/pgt2/tRzFhDM7smouznQM6C0qQZeLwNuNpZgKX465WZ21b+	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHoqqDV2hdf+1cYgUcLvMeNwBEl+ukmIAatDsXJY=	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHg5lAIpZbZ2p4YWx7+aEsNk510HzlcGRuapwiqGba0q4RAEySUM=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9xr5aLfE3Bblo0yR2UmIXFRZUPhR46Q0ANoywaLYyVLnFyL6hPHQ+h6Dh2aMIjH3Xg==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym955aWKX5cxycdnX3lVmESPt/4qvtS5rPio19/YjQ/+9bs/jlAg7ysid0e+pYfVg2kXtpKaVXhaY4EA==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9yqrf8AlH6A6w/QXjvfH77VttWuOKxtjrhTAONXyWjQHUIKtLURM4lpOMWLQ	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym965kL/IMEszW30YfG9nLPhkn5/0bWiVsX0VZVlhoWS9wnoTrDqEJ/uaa7EvtKUj61McdAKt4	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHkYFRNFg18yFmGjjXQp54ak4e9S6JQ==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym95J09TYEHDYRyDz24RReBVZza2suVave2ASseryaWqE9mBo=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym96LTzikk4WVkvAIEhVDKHHBz7K8B0oFsIT47Zd1OEg==	tde:AWxtKhweDV9MC48MnI4OT1sSiEglSoZRQA6DqTShi0XjHkYFRNFg18yFmGjjXQp54ak4e9S6JQ==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym95J09TYEHDYRyDz24RReBVZza2suVave2ASseryaWqE9mBo=	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym99YQywWbTADD0LgZ7cT9FnkxJ3/zrOiAEdbXb7vJmLvYDz1vXVqEFwSh	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym96LTzikk4WVkvAIEhVDKHHBz7K8B0oFsIT47Zd1OEg==	tde:AWxtKhweDV9MC48MnI4OT1sS9of23iIxRDy7v3nidOym9+aFqUkykJ7bvNa39L0d8kAN/3DnxCu3ycgB7LOEBSDbjsWK6TM=	tde:AWxtKhweDV9MC48MnI4OT1sSKCYEqDptRb+UeoRaFO6W+hoZ5R2ajFhO2b5QF4Npdb92oLxLUYrW0rfPz9x2rVqitJ0ng09IMZZwtPz7X65Jxw==
\.


--
-- PostgreSQL database dump complete
--


