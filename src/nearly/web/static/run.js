// Asks how far a run is, and shows the page again when that changes; at its end, what was found.
const run = document.querySelector("#run");
const stages = document.querySelector("#stages");

const shown = (stage) => {
  const item = document.createElement("li");
  const of = stage.total ? ` ${stage.done.toLocaleString("en-US")} of ${stage.total.toLocaleString("en-US")},` : "";
  const left = stage.left === null ? "" : `, about ${stage.left} s left`;
  item.textContent = `${stage.name}:${of} ${stage.seconds} s${left} `;
  if (stage.total) {
    const bar = document.createElement("progress");
    bar.max = stage.total;
    bar.value = stage.done;
    bar.setAttribute("aria-label", stage.name);
    item.append(bar);
  }
  return item;
};

const look = async () => {
  const answer = await fetch(location.pathname, { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  const now = await answer.json();
  if (now.state === "done" && !now.outcome.files) {
    location.assign(`/r/${encodeURIComponent(now.name)}/overview`);
  } else if (now.state !== "running") {
    location.reload();
  } else {
    stages.replaceChildren(...now.stages.map(shown));
    setTimeout(look, 400);
  }
};

if (run?.dataset.state === "running") look();
