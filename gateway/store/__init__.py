"""All that is kept, and all SQL.

`sqlite` owns the connection and groups commits; `schema` holds the tables; every other module is one table's
reads and writes as plain functions of a `Tx`, which callers compose into one transaction with `Store.write`.
"""
