// A threshold that is dragged: every step was counted beforehand, so nothing is asked for.
const section = document.querySelector("#cutting");
if (section) {
  const cuts = JSON.parse(section.dataset.cuts);
  const side = section.dataset.side;
  const slider = section.querySelector("#cut");
  const bars = [...section.querySelectorAll("rect")];
  const line = section.querySelector("#threshold");
  const see = section.querySelector("#see");
  const address = see.getAttribute("href");
  const plain = new Intl.NumberFormat("en-US");

  const placeOf = (at) => {
    for (const bar of bars) {
      const low = Number(bar.dataset.low);
      const high = Number(bar.dataset.high);
      if (at <= high) {
        const share = high > low ? Math.max(0, at - low) / (high - low) : 0;
        return Number(bar.getAttribute("x")) + share * Number(bar.getAttribute("width"));
      }
    }
    return 632;
  };

  const show = () => {
    const [at, ...counts] = cuts[Number(slider.value)];
    section.querySelector("#at").textContent = String(at);
    slider.setAttribute("aria-valuetext", String(at));
    counts.forEach((count, place) => {
      const cell = section.querySelector(`#cut-${place + 1}`);
      if (cell) cell.textContent = plain.format(count);
    });
    for (const bar of bars) {
      const isOut = side === "low" ? Number(bar.dataset.high) <= at : Number(bar.dataset.low) > at;
      bar.classList.toggle("out", isOut && at < 1);
    }
    const x = placeOf(at);
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    see.setAttribute("href", `${address}?${side}=${at}`);
  };
  slider.addEventListener("input", show);
  show();

  const button = section.querySelector("#scale");
  let scale = "log";
  button.textContent = "by their logarithm";
  button.addEventListener("click", () => {
    scale = scale === "log" ? "linear" : "log";
    button.setAttribute("aria-pressed", String(scale === "linear"));
    button.textContent = scale === "log" ? "by their logarithm" : "in proportion";
    for (const bar of bars) {
      const height = Number(bar.dataset[scale]);
      bar.setAttribute("height", height);
      bar.setAttribute("y", 176 - height);
    }
  });
}
