"""The face for clients of the Model Context Protocol: one server, over standard input and output and over HTTP."""
