"""The web console: its pages, its API and what it shows of documents."""
