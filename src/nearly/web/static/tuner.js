// Sliders: the numbers come from the page's JSON twin, and are drawn here.
const form = document.querySelector("#sliders");
if (form) {
  const svg = document.querySelector("#tuner svg");
  const [left, right, top, bottom] = svg.dataset.field.split(" ").map(Number);
  const at = ([similarity, chance]) =>
    `${left + similarity * (right - left)},${bottom - chance * (bottom - top)}`;
  const points = (places) => places.map(at).join(" ");

  const draw = (seen) => {
    const threshold = seen.threshold;
    const below = seen.curve.filter(([similarity]) => similarity <= threshold);
    const above = seen.curve.filter(([similarity]) => similarity >= threshold);
    svg.querySelector(".curve").setAttribute("points", points(seen.curve));
    svg
      .querySelector(".positive")
      .setAttribute("points", points([[0, 0], ...below, [threshold, 0]]));
    svg
      .querySelector(".negative")
      .setAttribute("points", points([[threshold, 1], ...above, [1, 1]]));
    for (const end of ["x1", "x2"]) {
      svg.querySelector(".threshold").setAttribute(end, left + threshold * (right - left));
    }
    svg.querySelector("title").textContent =
      `${seen.bands} bands of ${seen.rows} rows at threshold ${threshold}`;
    for (const [name, words] of Object.entries(seen.says)) {
      document.querySelector(`#says-${name}`).textContent = words;
    }
  };

  let asking = null;
  const ask = async () => {
    if (!form.checkValidity()) return;
    asking?.abort();
    asking = new AbortController();
    const query = new URLSearchParams(new FormData(form));
    try {
      const answer = await fetch(`${location.pathname}?${query}`, {
        headers: { Accept: "application/json" },
        signal: asking.signal,
      });
      if (!answer.ok) return;
      draw(await answer.json());
      history.replaceState(null, "", `${location.pathname}?${query}`);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  };

  for (const slider of form.querySelectorAll("input[type=range]")) {
    const box = form.querySelector(`#${slider.dataset.for}`);
    slider.addEventListener("input", () => {
      box.value = slider.value;
      ask();
    });
    box.addEventListener("input", () => {
      slider.value = box.value;
      ask();
    });
  }
}
