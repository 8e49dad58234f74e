"use strict";
// The page fetches its view, tries again when the graph is away, opens boxes of the graph in place,
// and knows a few keys. Everything else is plain links and forms.

const view = document.getElementById("view");
const banner = document.getElementById("banner");
const AGAIN = 2000, LOOK = 5000;

// ---- light or dark
const root = document.documentElement;
function dark() {
  return root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
}
function remembered(value) {
  try {
    if (value === undefined) return localStorage.getItem("theme");
    localStorage.setItem("theme", value);
  } catch { /* a browser may forbid it; then it is not remembered */ }
  return value;
}
function turn() {
  root.dataset.theme = dark() ? "light" : "dark";
  remembered(root.dataset.theme);
}
if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
document.getElementById("theme").addEventListener("click", turn);

// ---- what went wrong
let trouble = null, away = false;
function say(text, kind) {
  if (!banner) return;
  trouble = text ? kind : null;
  if (trouble === "away") away = true;
  banner.hidden = !text;
  banner.className = kind || "";
  if (banner.textContent !== (text || "")) banner.textContent = text || "";
}
function again() {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Try again";
  button.addEventListener("click", () => { say(""); load(); });
  return button;
}
const FORM = (document.querySelector("meta[name=form]") || { content: "" }).content;
async function asked(url, body) {
  let answer;
  try {
    answer = await fetch(url, {
      method: body ? "POST" : "GET", body, headers: { "x-part": "1" } });
  } catch {
    say("The page's own server does not answer: whence web has stopped. Retrying …", "away");
    return null;
  }
  if (answer.status === 401) { 
    location.assign("/login?next=" + encodeURIComponent(location.pathname + location.search));
    return null;
  }
  if (answer.ok) {
    if (trouble === "away") say("");
    return answer;
  }
  const words = await answer.text();
  // A server that has just come back is slow at first: that is no answer yet.
  const soon = answer.status === 503 || (answer.status === 504 && away);
  say(words, soon ? "away" : answer.status === 404 ? "gone" : "wrong");
  if (answer.status === 504 && !soon) banner.append(again());
  return null;
}

// ---- the view
async function load() {
  const part = view && view.dataset.part;
  if (!part) return;
  const answer = await asked(part);
  if (!answer) {
    if (trouble === "away") setTimeout(load, AGAIN);
    else { view.replaceChildren(); view.removeAttribute("aria-busy"); view.dataset.done = "1"; }
    return;
  }
  view.innerHTML = await answer.text();
  document.title = decodeURIComponent(answer.headers.get("x-title") || "Whence") + " · Whence";
  view.removeAttribute("aria-busy");
  view.dataset.done = "1";
  away = false;
  performance.mark("shown");
}
async function look() {
  if (!document.hidden && view && view.dataset.done) {
    await asked("/health?run=" + encodeURIComponent(view.dataset.run || ""));
  }
  setTimeout(look, LOOK);
}

// ---- boxes of the graph
async function open_(box) {
  const graph = box.closest("[data-opens]");
  if (!graph) return;
  const name = box.dataset.box;
  const here = new URL(location.href);
  const before = here.searchParams.getAll("open");
  here.searchParams.delete("open");
  const after = before.includes(name) ? before.filter((n) => n !== name) : [...before, name];
  after.forEach((n) => here.searchParams.append("open", n));
  graph.setAttribute("aria-busy", "true");
  const answer = await asked(graph.dataset.opens + here.search);
  graph.removeAttribute("aria-busy");
  if (!answer) return;
  graph.innerHTML = await answer.text();
  history.replaceState(null, "", here);
  follow(after);
  const same = [...graph.querySelectorAll("[data-box]")].find((b) => b.dataset.box === name);
  if (same) same.focus({ preventScroll: true });
  performance.mark("opened");
}
function follow(opened) {
  const links = ".takes [data-png], .takes form[action*='why.svg'], a[data-follows]";
  for (const link of view.querySelectorAll(links)) {
    const where = ["data-png", "action", "href"].find((name) => link.hasAttribute(name));
    const to = new URL(link.getAttribute(where), location.href);
    to.searchParams.delete("open");
    opened.forEach((n) => to.searchParams.append("open", n));
    link.setAttribute(where, to.pathname + to.search);
  }
}

// ---- a drawing as PNG: the same SVG, painted twice as large
async function png(button) {
  const answer = await asked(button.dataset.png, new URLSearchParams({ token: FORM }));
  if (!answer) return;
  const name = decodeURIComponent(
    (answer.headers.get("content-disposition") || "").split("''")[1] || "drawing.svg");
  const address = URL.createObjectURL(
    new Blob([await answer.text()], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = address;
  await image.decode();
  const scale = Math.min(2, 16000 / Math.max(image.width, image.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, image.width * scale);
  canvas.height = Math.max(1, image.height * scale);
  const brush = canvas.getContext("2d");
  brush.fillStyle = "#ffffff";
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  canvas.toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name.replace(/\.svg$/, ".png");
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }, "image/png");
}

// ---- what people do
document.addEventListener("click", (event) => {
  const box = event.target.closest("[data-box]");
  if (box) open_(box);
  const button = event.target.closest("[data-png]");
  if (button) png(button);
});
document.addEventListener("submit", (event) => {
  if (event.target.method === "post" && !event.target.elements.token) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: "token", value: FORM });
    event.target.append(field);
  }
  if (event.target.method !== "get") return;
  // What is empty says nothing, so that links stay short.
  for (const field of event.target.querySelectorAll("input, select")) {
    if (field.type !== "checkbox" && !field.value) field.disabled = true;
  }
  setTimeout(() => event.target.querySelectorAll(":disabled[name]:not(button)")
    .forEach((field) => { field.disabled = false; }), 0);
});
const help = document.getElementById("help");
const keys = document.getElementById("keys");
if (keys) keys.addEventListener("click", () => help.showModal());

function row(step) {
  const rows = [...view.querySelectorAll("tbody tr")];
  const at = rows.findIndex((r) => r.contains(document.activeElement));
  if (at < 0 && step < 0) return false;
  const next = rows[at + step] && rows[at + step].querySelector("a, input");
  if (next) next.focus();
  return Boolean(next);
}
function go(rel) {
  const to = view.querySelector(`a[rel="${rel}"], button[data-rel="${rel}"]:not(:disabled)`);
  if (to) to.click();
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = event.target;
  if (at.matches && at.matches("[data-box]") && ["Enter", " "].includes(event.key)) {
    event.preventDefault();
    open_(at);
    return;
  }
  if (at.matches && at.matches("input:not([type=checkbox]), select, textarea")) return;
  const does = {
    "/": () => { const f = view.querySelector("[data-key]"); if (f) { f.focus(); f.select(); } },
    "n": () => go("next"),
    "p": () => go("prev"),
    "g": () => location.assign("/"),
    "c": () => location.assign("/compare"),
    "t": turn,
    "?": () => help && help.showModal(),
    "ArrowDown": () => row(1),
    "ArrowUp": () => row(-1),
  }[event.key];
  if (!does || (help && help.open)) return;
  const scrolls = event.key.startsWith("Arrow");
  if (scrolls && !view.querySelector("tbody tr")) return;
  if (does() !== false) event.preventDefault();
});

load();
look();
