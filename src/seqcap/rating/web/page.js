"use strict";

const element = (id) => document.getElementById(id);
const { kit, pictures, questions } = JSON.parse(element("questions").textContent);
const SCREENS = ["welcome", "part", "question", "end"];
const COLUMNS = ["kit", "rater", "task", "question", "choice", "place"];
const PARTS = {
  accuracy: {
    title: "Which picture?",
    text:
      "You see a caption and two pictures. Choose the picture that the caption means. If it fits both or neither, " +
      "choose the one that it fits better, or guess.",
    ask: "Which picture is meant?",
  },
  naturalness: {
    title: "Which caption?",
    text:
      "You see two captions of the same picture, but not the picture. Choose the one that is better English. Do not " +
      "think about what it says, only about how it says it. If both are equally good, follow your first impression.",
    ask: "Which caption is better English?",
  },
};
const parts = Object.keys(PARTS).filter((task) => questions.some((question) => question.task === task));
// How long a choice stays in sight. A second tap or click meanwhile does not answer the next question.
const PAUSE = 150;

let rater = "";
let order = []; // the questions as this rater meets them
let answers = {}; // question -> [choice, place]
let number = 0; // of the question in sight
let pausing = false;
const begun = new Set(); // parts whose instructions were read

// A well mixed number of 32 bits: FNV-1a, then the last steps of MurmurHash3.
function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function shuffled(asked) {
  const drawn = new Map(asked.map((question) => [question, hash(`order ${rater} ${question.id}`)]));
  return [...asked].sort((left, right) => drawn.get(left) - drawn.get(right));
}

// The sides in the order in which they are shown.
function sides(question) {
  return hash(`sides ${rater} ${question.id}`) % 2 ? ["a", "b"] : ["b", "a"];
}

// --- What the browser keeps: the rater's name, and every answer under [rater, question]

// Not localStorage: in pages that are opened from a file, Chromium 156 shows an empty one every few reloads.
let store = null;

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// What `use` asks of the kept things; null if the browser keeps nothing, and the rater is told.
async function withKept(mode, use) {
  try {
    if (!store) {
      const request = indexedDB.open(`seqcap-rating ${kit}`);
      request.onupgradeneeded = () => request.result.createObjectStore("kept");
      store = await done(request);
    }
    return await use(store.transaction("kept", mode).objectStore("kept"));
  } catch {
    element("unsaved").hidden = false;
    return null;
  }
}

function keep(key, value) {
  return withKept("readwrite", (kept) => done(kept.put(value, key)));
}

function keptName() {
  return withKept("readonly", (kept) => done(kept.get("rater")));
}

// Question -> [choice, place], of one rater.
async function keptAnswers(name) {
  const own = IDBKeyRange.bound([name], [name, []]);
  const read = (kept) => Promise.all([done(kept.getAllKeys(own)), done(kept.getAll(own))]);
  const [keys, values] = (await withKept("readonly", read)) ?? [[], []];
  return Object.fromEntries(keys.map(([, question], index) => [question, values[index]]));
}

// --- Screens

function show(screen) {
  for (const id of SCREENS) element(id).hidden = id !== screen;
  element("who").hidden = element("footer").hidden = screen === "welcome";
  element("back").disabled = screen === "part" || number === 0;
  element("download-now").disabled = screen === "end" || Object.keys(answers).length === 0;
  // Screen readers go on from here, and keys reach the page and not a button that is gone.
  (screen === "welcome" ? element("name") : element(screen)).focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function welcome() {
  const tasks = parts.length === 1 ? "" : " in two parts";
  element("summary").textContent = `There are ${questions.length} short questions${tasks}.`;
  element("name").value = "";
  number = 0;
  show("welcome");
}

async function begin(name) {
  answers = await keptAnswers(name);
  rater = name;
  order = parts.flatMap((task) => shuffled(questions.filter((question) => question.task === task)));
  begun.clear();
  keep("rater", rater);
  element("rater").textContent = rater;
  next();
}

function next() {
  const open = order.findIndex((question) => !(question.id in answers));
  number = open < 0 ? order.length : open;
  proceed();
}

function proceed() {
  const question = order[number];
  element("count").textContent = `${Math.min(number + 1, order.length)} of ${order.length}`;
  element("bar").value = number;
  element("bar").max = order.length;
  if (!question) {
    end();
  } else if (begun.has(question.task) || order.some((other) => other.task === question.task && other.id in answers)) {
    ask(question);
  } else {
    instruct(question.task);
  }
}

function instruct(task) {
  element("part-number").textContent = `Part ${parts.indexOf(task) + 1} of ${parts.length}`;
  element("part-number").hidden = parts.length === 1;
  element("part-title").textContent = PARTS[task].title;
  element("part-text").textContent = PARTS[task].text;
  show("part");
}

function words(text) {
  const span = document.createElement("span");
  span.textContent = text.trim() || "(no words)";
  span.classList.toggle("none", !text.trim());
  return span;
}

function ask(question) {
  const ofPictures = question.task === "accuracy";
  element("question").className = question.task;
  element("ask").textContent = PARTS[question.task].ask;
  element("caption").hidden = !ofPictures;
  element("caption").replaceChildren(...(ofPictures ? [words(question.caption)] : []));
  sides(question).forEach((side, index) => {
    const option = element(`option${index + 1}`);
    const label = document.createElement("span");
    label.className = "number";
    label.textContent = index + 1;
    label.setAttribute("aria-hidden", "true");
    if (ofPictures) {
      const picture = document.createElement("img");
      picture.src = pictures[question[side]];
      picture.alt = `Picture ${index + 1}`;
      option.replaceChildren(picture, label);
    } else {
      option.replaceChildren(label, words(question[side]));
    }
    option.setAttribute("aria-pressed", String(answers[question.id]?.[0] === side));
  });
  show("question");
}

function end() {
  element("end-text").textContent =
    `You have answered all ${order.length} questions. Please download your answers, and send the file to whoever gave ` +
    "you this page.";
  show("end");
  element("download").focus();
}

// --- What raters do

function choose(place) {
  if (pausing) return;
  const question = order[number];
  const side = sides(question)[place - 1];
  answers[question.id] = [side, place];
  keep([rater, question.id], answers[question.id]);
  for (const index of [1, 2]) element(`option${index}`).setAttribute("aria-pressed", String(index === place));
  pausing = true;
  setTimeout(() => {
    pausing = false;
    next();
  }, PAUSE);
}

function back() {
  if (pausing || element("back").disabled) return;
  number -= 1;
  proceed();
}

function download() {
  const answered = order.filter((question) => question.id in answers);
  const rows = answered.map((question) => [kit, rater, question.task, question.id, ...answers[question.id]]);
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const text = [COLUMNS, ...rows].map((row) => row.map(String).map(quoted).join(",") + "\r\n").join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `answers-${kit}-${rater.replace(/[^\p{L}\p{N}]+/gu, "-")}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const KEYS = { 1: 1, 2: 2, ArrowLeft: 1, ArrowUp: 1, ArrowRight: 2, ArrowDown: 2 };

document.addEventListener("keydown", (event) => {
  // The browser's own shortcuts stay its own. A key that is held down answers once.
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (!element("question").hidden && event.key in KEYS) {
    event.preventDefault();
    if (!event.repeat) choose(KEYS[event.key]);
  } else if (event.key === "Backspace" && element("welcome").hidden) {
    event.preventDefault();
    if (!event.repeat) back();
  }
});
for (const place of [1, 2]) element(`option${place}`).addEventListener("click", () => choose(place));
element("back").addEventListener("click", back);
element("download").addEventListener("click", download);
element("download-now").addEventListener("click", download);
element("another").addEventListener("click", () => !pausing && welcome());
element("continue").addEventListener("click", () => {
  begun.add(order[number].task);
  proceed();
});
element("welcome").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = element("name").value.normalize().trim().replace(/\s+/g, " ");
  if (name) begin(name);
});

keptName().then((name) => (name ? begin(name) : welcome()));
