"""How engines are driven: the contract, the processes, a module an engine; what they did is judged elsewhere."""
