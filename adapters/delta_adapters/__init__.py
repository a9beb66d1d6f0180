"""How engines are driven: the contract, the processes, one module an engine; no judgement of what an engine did lives here."""
