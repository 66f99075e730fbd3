"""The providers that ship, each a module that is imported only when a model of its kind is used."""
