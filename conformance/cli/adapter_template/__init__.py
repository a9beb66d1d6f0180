"""The files of a package with an adapter, as `conformance new-adapter` makes them."""
