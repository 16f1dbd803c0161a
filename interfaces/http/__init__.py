"""The one HTTP app: REST, events, the Model Context Protocol and pages. Routes only: what they do lies below."""
