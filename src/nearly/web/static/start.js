// Files that are dropped or chosen, sent with the folders they lie in.
const form = document.querySelector("#drop");
const says = document.querySelector("#sending");

const send = async (files) => {
  const data = new FormData();
  for (const { file, path } of files) data.append("file", file, path);
  says.textContent = files.length === 1 ? "sending 1 file …" : `sending ${files.length} files …`;
  const answer = await fetch("/upload", { method: "POST", body: data, headers: { Accept: "application/json" } });
  if (answer.ok) {
    location.assign(answer.url);
  } else {
    const why = await answer.text();
    try {
      says.textContent = JSON.parse(why).message;
    } catch {
      says.textContent = why;
    }
  }
};

const inside = async (entry, prefix) => {
  const path = prefix + entry.name;
  if (entry.isFile) {
    const file = await new Promise((found, failed) => entry.file(found, failed));
    return [{ file, path }];
  }
  const reader = entry.createReader();
  const all = [];
  for (;;) {
    const some = await new Promise((found, failed) => reader.readEntries(found, failed));
    if (!some.length) break;
    for (const each of some) all.push(...(await inside(each, `${path}/`)));
  }
  return all;
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const inputs = [...form.querySelectorAll("input[type=file]")];
  const files = inputs.flatMap((input) => [...input.files]);
  send(files.map((file) => ({ file, path: file.webkitRelativePath || file.name })));
});
for (const kind of ["dragenter", "dragover"]) {
  form.addEventListener(kind, (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
}
form.addEventListener("dragleave", () => form.classList.remove("over"));
form.addEventListener("drop", async (event) => {
  event.preventDefault();
  form.classList.remove("over");
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const files = [];
  for (const entry of entries) files.push(...(await inside(entry, "")));
  send(files);
});
