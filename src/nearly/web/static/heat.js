// A heat map: the darker a cell, the nearer its two documents.
const section = document.querySelector("#cluster");
if (section) {
  const { names, links, distance, pair } = JSON.parse(section.dataset.cluster);
  const canvas = section.querySelector("#heat");
  const says = section.querySelector("#heat-says");
  const cell = Math.max(3, Math.min(40, Math.floor(560 / names.length)));
  canvas.width = canvas.height = names.length * cell;
  const values = new Map();
  for (const [a, b, value, place] of links) {
    values.set(`${a},${b}`, [value, place]);
    values.set(`${b},${a}`, [value, place]);
  }
  const most = Math.max(1e-9, ...links.map((link) => link[2]));
  const nearness = (value) => (distance ? 1 - value / most : value);
  const chosen = { row: 0, column: 0 };

  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    const context = canvas.getContext("2d");
    context.globalAlpha = 1;
    context.fillStyle = style.getPropertyValue("--paper");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = style.getPropertyValue("--bar");
    for (let row = 0; row < names.length; row += 1) {
      for (let column = 0; column < names.length; column += 1) {
        const found = row === column ? [distance ? 0 : 1] : values.get(`${row},${column}`);
        if (found) {
          context.globalAlpha = Math.max(0.05, nearness(found[0]));
          context.fillRect(column * cell, row * cell, cell - 1, cell - 1);
        }
      }
    }
    context.globalAlpha = 1;
    context.strokeStyle = style.getPropertyValue("--differs");
    context.strokeRect(chosen.column * cell + 0.5, chosen.row * cell + 0.5, cell - 1, cell - 1);
  };

  const say = () => {
    const { row, column } = chosen;
    const found = values.get(`${row},${column}`);
    const value = row === column ? "the same document" : found ? String(found[0].toFixed(4)) : "not known";
    says.textContent = `${names[row]} and ${names[column]}: ${value}`;
    draw();
  };
  const choose = (event) => {
    const box = canvas.getBoundingClientRect();
    const at = (place, size) => Math.min(names.length - 1, Math.max(0, Math.floor((place / size) * names.length)));
    chosen.column = at(event.clientX - box.left, box.width);
    chosen.row = at(event.clientY - box.top, box.height);
    say();
  };
  const open = () => {
    const found = values.get(`${chosen.row},${chosen.column}`);
    if (found && found[1] !== null && found[1] !== undefined) location.assign(`${pair}${found[1]}`);
  };
  canvas.addEventListener("pointermove", choose);
  canvas.addEventListener("click", (event) => {
    choose(event);
    open();
  });
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = steps[event.key];
    if (event.key === "Enter") open();
    if (!step) return;
    event.preventDefault();
    chosen.row = Math.min(names.length - 1, Math.max(0, chosen.row + step[0]));
    chosen.column = Math.min(names.length - 1, Math.max(0, chosen.column + step[1]));
    say();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}
