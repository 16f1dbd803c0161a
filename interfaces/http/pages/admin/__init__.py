"""The registry: pages for staff of a tenant, who look after what is kept and see who looked at it."""
