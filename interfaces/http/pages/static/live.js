// Shows what changed while one watches. Without it everything works as well.
const path = document.body.dataset.live;
const news = document.getElementById("news");
let waits = 0;
let shown = Promise.resolve();

// Nothing moves under the hand of who is about to follow a link, and no form loses what was written in it.
function replaceable() {
  const known = document.getElementById("known");
  return known && !known.contains(document.activeElement) ? known : null;
}

async function show() {
  const answer = replaceable() && (await fetch(location.href).catch(() => null));
  const fresh = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("known");
  const known = fresh && replaceable();
  if (known) known.replaceWith(fresh);
  else news.hidden = false;
}

if (path && "EventSource" in window) {
  const events = new EventSource(path);
  events.addEventListener("changed", () => {
    clearTimeout(waits);
    // One after the other: an answer that is late must not replace a newer one.
    waits = setTimeout(() => (shown = shown.then(show)), 100);
  });
}
