// Shows the counts of a study as they grow. The server sends them; the browser connects again by itself when the server was away.
const list = document.querySelector("[data-live]");
if (list) {
  const source = new EventSource(list.dataset.live);
  source.addEventListener("counts", (event) => {
    for (const [name, count] of Object.entries(JSON.parse(event.data))) {
      const place = list.querySelector(`[data-count="${CSS.escape(name)}"]`);
      if (place && place.textContent !== String(count)) place.textContent = count;
    }
  });
  addEventListener("pagehide", () => source.close());
}
