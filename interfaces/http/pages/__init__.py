"""Pages for people: what is known about me. Server-rendered; every control is a form or a link."""
