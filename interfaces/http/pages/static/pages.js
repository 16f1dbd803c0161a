// What htmx leaves to a page: no failure is silent, nothing moves under a hand, and no focus is lost.
const show = (id) => (document.getElementById(id).hidden = false);

// What was said of the last form is not said of this one.
document.addEventListener("submit", () => document.querySelector("#told [role=status]").replaceChildren());

document.addEventListener("htmx:error", () => show("unanswered"));

document.addEventListener("htmx:before:swap", (event) => {
  const { ctx, tasks } = event.detail;
  const isPage = tasks.some((task) => task.fragment.childElementCount);
  const isNews = ctx.sourceElement.closest("#live");
  // Somebody is about to follow a link, or shows another list by now.
  const isLate = document.querySelector("main :is(a, button):hover") || ctx.request.action !== location.pathname + location.search;
  if (isPage && !(isNews && isLate)) return;
  event.preventDefault();
  show(isPage ? "news" : "unanswered");
});

document.addEventListener("htmx:after:swap", (event) => {
  const isDone = event.detail.ctx.sourceEvent.type === "submit";
  // What was pressed is gone: what is said of it is next for a keyboard.
  if (isDone && document.activeElement === document.body) document.getElementById("told").focus();
});

// The session ended elsewhere: who looks on is asked to sign in.
document.addEventListener("htmx:sse:error", (event) => event.detail.status === 401 && location.reload());
