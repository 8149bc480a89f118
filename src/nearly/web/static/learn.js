// Files become documents, one per line; they are read here and not kept anywhere.
const files = document.querySelector("#files");
if (files) {
  const texts = document.querySelector("textarea[name=texts]");
  const says = document.querySelector("#files-say");
  files.addEventListener("change", async () => {
    const read = await Promise.all([...files.files].map((file) => file.text()));
    texts.value = read.map((text) => text.split(/\s+/).filter(Boolean).join(" ")).join("\n");
    const most = Number(texts.getAttribute("maxlength"));
    const names = [...files.files].map((file, place) => `D${place + 1}: ${file.name}`).join(", ");
    const long = `These have ${texts.value.length} characters, and a lesson has at most ${most}: shorten them.`;
    says.textContent = texts.value.length > most ? long : names;
  });
}

// The signature matrix row by row: each step comes from the page's JSON twin.
const section = document.querySelector("#signatures");
if (section) {
  const slider = section.querySelector("#step");
  const says = section.querySelector("#step-says");
  const rows = [...section.querySelectorAll("#matrix tbody tr")];
  const play = section.querySelector("#play");
  const query = new URLSearchParams(location.search);
  const spaced = section.dataset.unit === "char";
  let asking = null;

  const draw = (step) => {
    const shingle = spaced ? step.shingle.replaceAll(" ", "␣") : step.shingle;
    says.textContent = step.number
      ? `After row ${step.number - 1}, '${shingle}', which ${step.holders.join(", ")} have.`
      : "Before the first row: every value is infinite.";
    rows.forEach((row, place) => {
      const cells = row.querySelectorAll("td");
      cells[1].textContent = step.hashes.length ? step.hashes[place] : "…";
      step.values[place].forEach((value, column) => {
        const span = cells[column + 2].firstElementChild;
        span.textContent = value === null ? "∞" : value;
        span.classList.toggle("new", step.changed[place][column]);
      });
    });
  };

  const show = async () => {
    asking?.abort();
    asking = new AbortController();
    query.set("step", slider.value);
    try {
      const answer = await fetch(`/learn?${query}`, {
        headers: { Accept: "application/json" },
        signal: asking.signal,
      });
      if (answer.ok) draw((await answer.json()).step);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  };

  let timer = null;
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    play.textContent = "Play";
  };
  const next = async () => {
    if (Number(slider.value) >= Number(slider.max)) return stop();
    slider.value = Number(slider.value) + 1;
    await show();
    if (timer !== null) timer = setTimeout(next, 500);
  };
  play.addEventListener("click", () => {
    if (timer !== null) return stop();
    if (slider.value === slider.max) slider.value = 0;
    play.textContent = "Pause";
    timer = setTimeout(next, 0);
  });
  slider.addEventListener("input", () => {
    stop();
    show();
  });
}
