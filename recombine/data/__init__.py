"""Files: parquet with a dataset card and a manifest; sharding, resume, engines, verify, audit."""
