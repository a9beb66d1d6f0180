"""What a Delta table means, in pure Python.

- `operations`, `outcomes`, `expressions`, `schema`, `values`: the vocabulary, frozen values with a JSON form (`codec`).
- `table`: the reference model, which says what each operation does to rows, schema and properties.
- `log`: a reader of the transaction log, and the rules that a log must keep (`log.validity`).
- `concurrency`: which results of concurrent writers some serial order explains.
- `requirements`: the catalogue of all rules, each with its id, sentence and source.

The package imports no engine and no Delta library, and starts no process.
"""
