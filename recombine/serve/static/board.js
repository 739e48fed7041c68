// Sends what a person does on a board to the server and shows the board that comes back. The server decides what an event means.
let turn = Promise.resolve();

function board() { return document.getElementById("board"); }

async function post(fields) {
  const reply = await fetch(location.pathname + location.search, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields),
  });
  const isJson = (reply.headers.get("Content-Type") ?? "").startsWith("application/json");
  return isJson ? reply.json() : { error: (await reply.text()).trim() };
}

function base() {
  const form = document.getElementById("board-form");
  const fields = { csrf: form.elements.csrf.value, state: form.elements.state.value };
  return form.elements.item ? { ...fields, item: form.elements.item.value } : fields;
}

function say(text) { board().querySelector(".said").textContent = text; }

function send(fields) {
  turn = turn.then(async () => {
    const answer = await post({ ...base(), ...fields }).catch(() => ({ error: "The server does not answer." }));
    if (answer.go) { location.assign(answer.go); return; }
    if (answer.error) { say(answer.error); board().querySelector(".verdict")?.remove(); return; }
    const held = document.activeElement, inside = board().contains(held);
    const again = !inside ? null : held.matches(".stage") ? ".stage" : held.value && held.matches("button") ? `button[value="${CSS.escape(held.value)}"]` : held.id ? `#${CSS.escape(held.id)}` : ".stage";
    const chosen = {};
    for (const list of board().querySelectorAll("select")) chosen[list.form.querySelector("button").value + list.name] = list.value;
    board().outerHTML = answer.html;
    for (const list of board().querySelectorAll("select")) {
      const value = chosen[list.form.querySelector("button").value + list.name];
      if ([...list.options].some((option) => option.value === value)) list.value = value;
    }
    if (again) (board().querySelector(again) || board().querySelector(".stage"))?.focus({ preventScroll: true });
  });
  return turn;
}

document.addEventListener("submit", (event) => {
  if (!event.target.closest("[data-board]") || event.target.matches("[data-plain]")) return;
  event.preventDefault();
  const fields = Object.fromEntries(new FormData(event.target, event.submitter));
  delete fields.state;
  send(fields);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !event.target.closest(".stage, body") || event.target.closest("input, textarea, select")) return;
  if (event.target.closest("button, a, summary") && (event.key === "Enter" || event.key === " ")) return;
  const button = [...(board()?.querySelectorAll("button[data-key]") ?? [])].find((b) => b.dataset.key.toLowerCase() === event.key.toLowerCase());
  if (!button) return;
  event.preventDefault();
  send({ event: button.value });
});

let from = null, ghost = null;

function place(svg, event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [Math.round(point.x * 10) / 10, Math.round(point.y * 10) / 10];
}

document.addEventListener("pointerdown", (event) => {
  const svg = event.target.closest?.(".stage > svg");
  if (!svg || event.button !== 0) return;
  from = { svg, at: place(svg, event) };
  svg.setPointerCapture?.(event.pointerId);
  event.preventDefault();
  svg.parentElement.focus({ preventScroll: true });
});

document.addEventListener("pointermove", (event) => {
  if (!from) return;
  if (!ghost) {
    ghost = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    ghost.setAttribute("r", from.svg.viewBox.baseVal.width / 45);
    ghost.setAttribute("fill", "#d6336c");
    ghost.setAttribute("opacity", "0.6");
    ghost.setAttribute("pointer-events", "none");
    from.svg.append(ghost);
  }
  const [x, y] = place(from.svg, event);
  ghost.setAttribute("cx", x);
  ghost.setAttribute("cy", y);
});

document.addEventListener("pointerup", (event) => {
  if (!from) return;
  const [x1, y1] = from.at, [x2, y2] = place(from.svg, event);
  const far = Math.hypot(x2 - x1, y2 - y1) > from.svg.viewBox.baseVal.width / 60;
  ghost?.remove();
  from = ghost = null;
  send({ event: far ? `drag:${x1},${y1},${x2},${y2}` : `click:${x1},${y1}` });
});

document.addEventListener("pointercancel", () => { ghost?.remove(); from = ghost = null; });

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-film]");
  if (!button) return;
  const frames = JSON.parse(button.dataset.film), screen = document.getElementById("film");
  button.disabled = true;
  for (const state of frames) {
    const answer = await post({ ...base(), state, event: "show" });
    if (answer.error) break;
    const frame = new DOMParser().parseFromString(answer.html, "text/html").querySelector(".stage svg");
    screen.replaceChildren(document.importNode(frame, true));
    await new Promise((done) => setTimeout(done, matchMedia("(prefers-reduced-motion: reduce)").matches ? 900 : 350));
  }
  button.disabled = false;
});
