// Says when something changed while one watches. Without it everything works as well.
const path = document.body.dataset.live;
if (path && "EventSource" in window) {
  const events = new EventSource(path);
  for (const name of ["memory.created", "memory.updated", "memory.changed_fact", "memory.archived", "memory.deleted"]) {
    events.addEventListener(name, () => { document.getElementById("news").hidden = false; });
  }
}
