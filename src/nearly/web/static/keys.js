// Keys: arrows go to the pair or page before and after, letters mark a pair.
const go = (rel) => document.querySelector(`main a[rel=${rel}]`)?.click();

const mark = (value) => {
  const form = document.querySelector("#mark");
  const choice = form?.querySelector(`input[name=mark][value=${value}]`);
  if (choice) {
    choice.checked = true;
    form.requestSubmit();
  }
};

const keys = {
  ArrowLeft: () => go("prev"),
  ArrowRight: () => go("next"),
  s: () => mark("same"),
  d: () => mark("different"),
  u: () => mark("unsure"),
};

addEventListener("keydown", (event) => {
  const isBusy = event.target.matches("input, select, textarea, [role=region]");
  if (isBusy || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});
