// A heat map: the darker a cell, the nearer its two documents.
const section = document.querySelector("#cluster");
if (section) {
  const { names, a, b, values, pairs, distance, pair } = JSON.parse(section.dataset.cluster);
  const canvas = section.querySelector("#heat");
  const says = section.querySelector("#heat-says");
  const cell = Math.max(3, Math.min(40, Math.floor(560 / names.length)));
  canvas.width = canvas.height = names.length * cell;
  // Of every two documents: where they stand among the links, or -1.
  const known = new Int32Array(names.length * names.length).fill(-1);
  const link = (row, column) => known[row * names.length + column];
  values.forEach((_, i) => {
    known[a[i] * names.length + b[i]] = i;
    known[b[i] * names.length + a[i]] = i;
  });
  const most = values.reduce((greatest, value) => Math.max(greatest, value), 1e-9);
  const nearness = (value) => (distance ? 1 - value / most : value / 10000);
  const chosen = { row: 0, column: 0 };
  // Painted once: a pointer that moves only moves the frame around a cell.
  const map = document.createElement("canvas");
  map.width = map.height = canvas.width;

  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    const context = map.getContext("2d");
    context.globalAlpha = 1;
    context.fillStyle = style.getPropertyValue("--paper");
    context.fillRect(0, 0, map.width, map.height);
    context.fillStyle = style.getPropertyValue("--bar");
    for (let row = 0; row < names.length; row += 1) {
      for (let column = 0; column < names.length; column += 1) {
        const found = link(row, column);
        if (row === column || found >= 0) {
          context.globalAlpha = row === column ? 1 : Math.max(0.05, nearness(values[found]));
          context.fillRect(column * cell, row * cell, cell - 1, cell - 1);
        }
      }
    }
  };
  const draw = () => {
    const context = canvas.getContext("2d");
    context.drawImage(map, 0, 0);
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--differs");
    context.strokeRect(chosen.column * cell + 0.5, chosen.row * cell + 0.5, cell - 1, cell - 1);
  };

  const say = () => {
    const { row, column } = chosen;
    const found = link(row, column);
    const value = row === column ? "the same document" : found >= 0 ? (values[found] / 10000).toFixed(4) : "not known";
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
    const found = link(chosen.row, chosen.column);
    if (found >= 0 && pairs[found] >= 0) location.assign(`${pair}${pairs[found]}`);
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
  const redraw = () => {
    paint();
    draw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  redraw();
}
