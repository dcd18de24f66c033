// Additions to the page of viser: playback without a graphics card, dropped files, dark mode.
// Dropped files go to the upload button; a folder is sent as a tar archive.
(() => {
  "use strict";

  // The loader of viser creates one script element. It gets the nonce of this script, without which
  // the Content-Security-Policy of the page does not run it; no later element gets it.
  const { nonce } = document.currentScript;
  const createElement = document.createElement;
  document.createElement = function (name, ...rest) {
    const element = createElement.call(this, name, ...rest);
    if (name === "script") {
      element.nonce = nonce;
      delete document.createElement;
    }
    return element;
  };

  // Without a graphics card, antialiasing takes most of the time of a frame.
  function hasSoftwareRenderer() {
    const probe = document.createElement("canvas").getContext("webgl2");
    const known = probe && probe.getExtension("WEBGL_debug_renderer_info");
    const name = known ? probe.getParameter(known.UNMASKED_RENDERER_WEBGL) : "";
    if (probe) probe.getExtension("WEBGL_lose_context")?.loseContext();
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  }

  const edges = new URLSearchParams(location.search).get("edges");
  if (edges === "plain" || (edges !== "smooth" && hasSoftwareRenderer())) {
    const original = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, options) {
      const plain = kind.startsWith("webgl") ? { ...options, antialias: false } : options;
      return original.call(this, kind, plain);
    };
  }

  // The server reads the preferred color scheme from the local storage, and again on request.
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  function storeColorScheme() {
    try {
      // The prefix is that of the local storage interface of viser.
      localStorage.setItem("viser-user:homodyn-color-scheme", prefersDark.matches ? "dark" : "light");
    } catch (error) {
      console.warn("the color scheme cannot be stored", error);
    }
  }
  storeColorScheme();
  prefersDark.addEventListener("change", () => {
    storeColorScheme();
    fetch("/homodyn/color-scheme", { cache: "no-store" });
  });

  document.title = "Homodyn studio";
  const titleObserver = new MutationObserver(() => {
    if (document.title === "Viser") document.title = "Homodyn studio";
  });

  const BLOCK = 512;

  function tarHeader(name, size) {
    const head = new Uint8Array(BLOCK);
    const put = (text, at) => head.set(new TextEncoder().encode(text), at);
    put(name.slice(0, 99), 0);
    put("0000644\0", 100);
    put("0000000\0", 108);
    put("0000000\0", 116);
    put(size.toString(8).padStart(11, "0") + "\0", 124);
    put("00000000000\0", 136);
    put("        ", 148);
    put("0", 156);
    put("ustar\u000000", 257);
    const sum = head.reduce((total, byte) => total + byte, 0);
    put(sum.toString(8).padStart(6, "0") + "\0 ", 148);
    return head;
  }

  async function packTar(name, files) {
    const parts = [];
    for (const [path, file] of files) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      parts.push(tarHeader(path, bytes.length), bytes);
      parts.push(new Uint8Array((BLOCK - (bytes.length % BLOCK)) % BLOCK));
    }
    parts.push(new Uint8Array(2 * BLOCK));
    return new File(parts, name + ".tar", { type: "application/x-tar" });
  }

  async function listFiles(entry, prefix) {
    if (entry.isFile) {
      const file = await new Promise((ok, no) => entry.file(ok, no));
      return [[prefix + entry.name, file]];
    }
    const reader = entry.createReader();
    const found = [];
    for (;;) {
      const batch = await new Promise((ok, no) => reader.readEntries(ok, no));
      if (!batch.length) return found;
      for (const child of batch) found.push(...(await listFiles(child, prefix + entry.name + "/")));
    }
  }

  function upload(file) {
    const input = [...document.querySelectorAll('input[type="file"]')].find((candidate) =>
      candidate.parentElement.textContent.includes("Open a file")
    );
    if (!input) return false;
    const transfer = new DataTransfer();
    transfer.items.add(file);
    input.files = transfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
  }

  // One file at a time: the button accepts the next one after it has sent the last.
  async function uploadAll(files) {
    for (const file of files) {
      upload(file);
      await new Promise((done) => setTimeout(done, 400));
    }
  }

  async function openDropped(event) {
    const entries = [...event.dataTransfer.items]
      .map((item) => (item.webkitGetAsEntry ? item.webkitGetAsEntry() : null))
      .filter(Boolean);
    const plain = [...event.dataTransfer.files];
    if (!entries.some((entry) => entry.isDirectory)) return uploadAll(plain);
    const files = [];
    for (const entry of entries) {
      const found = await listFiles(entry, "");
      files.push(entry.isDirectory ? await packTar(entry.name, found) : found[0][1]);
    }
    return uploadAll(files);
  }

  // The label of the page shows unsaved work; the browser asks before the page is closed.
  window.addEventListener("beforeunload", (event) => {
    if (document.body.textContent.includes("Homodyn studio (unsaved work)")) event.preventDefault();
  });

  window.addEventListener("DOMContentLoaded", () => {
    titleObserver.observe(document.querySelector("title"), { childList: true });
    const overlay = document.createElement("div");
    overlay.id = "homodyn-drop";
    overlay.textContent = "Drop a recording, a model or a result folder to open it";
    document.body.append(overlay);
    const hasFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
    let depth = 0;
    const over = (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      overlay.classList.add("over");
    };
    document.addEventListener("dragenter", (event) => { if (hasFiles(event)) depth += 1; over(event); });
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", () => {
      depth = Math.max(0, depth - 1);
      if (!depth) overlay.classList.remove("over");
    });
    document.addEventListener("drop", (event) => {
      depth = 0;
      overlay.classList.remove("over");
      if (!hasFiles(event)) return;
      event.preventDefault();
      openDropped(event);
    });
  });
})();
