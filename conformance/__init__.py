"""The harness: it generates histories, runs them on engines, checks the results and reports them.

The models and the adapters are packages of their own. docs/decisions/0021 says in which order the packages stand.
"""
