// Counts the seconds that are left for an answer. The server measures the time itself.
const clock = document.querySelector("[data-left]");
if (clock) {
  const end = Date.now() + 1000 * Number(clock.dataset.left);
  setInterval(() => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    clock.textContent = left ? `${left} seconds` : "none; late answers do not count";
  }, 1000);
}
