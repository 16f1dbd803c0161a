// Shows what changed while one watches. Without it everything works as well.
const path = document.body.dataset.live;
const news = document.getElementById("news");
let waits = 0;

async function show() {
  const known = document.getElementById("known");
  // Nothing moves under the hand of who is about to follow a link, and no form loses what was written in it.
  if (!known || known.contains(document.activeElement)) {
    news.hidden = false;
    return;
  }
  const answer = await fetch(location.href);
  const fresh = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("known");
  if (fresh) known.replaceWith(fresh);
}

if (path && "EventSource" in window) {
  const events = new EventSource(path);
  events.addEventListener("changed", () => {
    clearTimeout(waits);
    waits = setTimeout(show, 100);
  });
}
