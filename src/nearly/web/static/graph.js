// A graph of a small cluster: documents repel each other, links pull them together.
const section = document.querySelector("#cluster");
const place = document.querySelector("#graph");
const NS = "http://www.w3.org/2000/svg";

const layout = (count, links, size) => {
  // On a circle at first, always in the same way: the same cluster looks the same every time.
  const points = Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    return { x: size / 2 + (size / 3) * Math.cos(angle), y: size / 2 + (size / 3) * Math.sin(angle) };
  });
  const wanted = size / Math.sqrt(count + 2) / 1.4;
  // Where everybody is linked with everybody, a pull each would leave one heap.
  const degrees = points.map(() => 0);
  for (const [a, b] of links) {
    degrees[a] += 1;
    degrees[b] += 1;
  }
  for (let round = 0; round < 200; round += 1) {
    const reach = (30 * (200 - round)) / 200;
    const moves = points.map(() => ({ x: 0, y: 0 }));
    for (let a = 0; a < count; a += 1) {
      for (let b = 0; b < a; b += 1) {
        const x = points[a].x - points[b].x;
        const y = points[a].y - points[b].y;
        const far = Math.max(1, Math.hypot(x, y));
        const push = (wanted * wanted) / far / far;
        moves[a].x += x * push;
        moves[a].y += y * push;
        moves[b].x -= x * push;
        moves[b].y -= y * push;
      }
    }
    for (const [a, b] of links) {
      const x = points[a].x - points[b].x;
      const y = points[a].y - points[b].y;
      const pull = Math.hypot(x, y) / wanted / 2 / Math.sqrt(Math.max(degrees[a], degrees[b]));
      moves[a].x -= x * pull;
      moves[a].y -= y * pull;
      moves[b].x += x * pull;
      moves[b].y += y * pull;
    }
    points.forEach((point, i) => {
      const far = Math.max(1e-9, Math.hypot(moves[i].x, moves[i].y));
      const step = Math.min(far, reach) / far;
      point.x = Math.min(size - 20, Math.max(20, point.x + moves[i].x * step));
      point.y = Math.min(size - 20, Math.max(20, point.y + moves[i].y * step));
    });
  }
  return points;
};

const made = (name, attributes, words) => {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (words !== undefined) element.textContent = words;
  return element;
};

if (section && place) {
  const { names, a: ones, b: others, values, pairs, least, distance } = JSON.parse(section.dataset.cluster);
  const real = pairs.map((pair, i) => [ones[i], others[i], values[i] / 10000, pair]).filter((link) => link[3] >= 0);
  const size = names.length > 12 ? 640 : 400;
  const points = layout(names.length, real, size);
  const ys = points.map((point) => point.y);
  const [top, bottom] = [Math.min(...ys) - 30, Math.max(...ys) + 30];
  const svg = made("svg", { viewBox: `0 ${top} ${size} ${bottom - top}`, class: size < 640 ? "small" : "", role: "img", "aria-label": `graph of ${names.length} documents and ${real.length} links` });
  for (const [a, b, value] of real) {
    const share = distance ? 1 - value / Math.max(least, 1e-9) : (value - least) / Math.max(1 - least, 1e-9);
    svg.append(made("line", { x1: points[a].x, y1: points[a].y, x2: points[b].x, y2: points[b].y, "stroke-width": 0.5 + 2.5 * Math.max(0, share), "stroke-opacity": 0.45 + 0.5 * Math.max(0, share) }));
  }
  const written = [];
  names.forEach((name, i) => {
    const circle = made("circle", { cx: points[i].x, cy: points[i].y, r: names.length > 60 ? 4 : 7 });
    circle.append(made("title", {}, name));
    svg.append(circle);
    const isRight = points[i].x > size * 0.6;
    const shown = name.length > 28 ? `${name.slice(0, 27)}…` : name;
    // About as wide as its letters; a label that would cover another is left to the circle's title.
    const left = points[i].x + (isRight ? -10 - 7 * shown.length : 10);
    const box = { left, right: left + 7 * shown.length, top: points[i].y - 20, bottom: points[i].y - 4 };
    const covers = (other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
    if (names.length <= 30 && !written.some(covers)) {
      written.push(box);
      svg.append(made("text", { x: points[i].x + (isRight ? -10 : 10), y: points[i].y - 8, "text-anchor": isRight ? "end" : "start", class: "label" }, shown));
    }
  });
  place.append(svg);
}
