// What the page of viser lacks: smooth playing without a graphics card, and files dropped on it.
// Files go to the button that opens files; a folder goes as a tar.
(() => {
  "use strict";

  // Where the processor draws in place of a graphics card, smooth edges take most of its time.
  function drawnByProcessor() {
    const probe = document.createElement("canvas").getContext("webgl2");
    const known = probe && probe.getExtension("WEBGL_debug_renderer_info");
    const name = known ? probe.getParameter(known.UNMASKED_RENDERER_WEBGL) : "";
    if (probe) probe.getExtension("WEBGL_lose_context")?.loseContext();
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  }

  const asked = new URLSearchParams(location.search).get("edges");
  if (asked === "plain" || (asked !== "smooth" && drawnByProcessor())) {
    const original = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, options) {
      const plain = kind.startsWith("webgl") ? { ...options, antialias: false } : options;
      return original.call(this, kind, plain);
    };
  }

  document.title = "Homodyn studio";
  const keep = new MutationObserver(() => {
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

  async function packed(name, files) {
    const parts = [];
    for (const [path, file] of files) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      parts.push(tarHeader(path, bytes.length), bytes);
      parts.push(new Uint8Array((BLOCK - (bytes.length % BLOCK)) % BLOCK));
    }
    parts.push(new Uint8Array(2 * BLOCK));
    return new File(parts, name + ".tar", { type: "application/x-tar" });
  }

  async function inside(entry, prefix) {
    if (entry.isFile) {
      const file = await new Promise((ok, no) => entry.file(ok, no));
      return [[prefix + entry.name, file]];
    }
    const reader = entry.createReader();
    const found = [];
    for (;;) {
      const some = await new Promise((ok, no) => reader.readEntries(ok, no));
      if (!some.length) return found;
      for (const one of some) found.push(...(await inside(one, prefix + entry.name + "/")));
    }
  }

  function give(file) {
    const button = [...document.querySelectorAll('input[type="file"]')].find((input) =>
      input.parentElement.textContent.includes("Open a file")
    );
    if (!button) return false;
    const carrier = new DataTransfer();
    carrier.items.add(file);
    button.files = carrier.files;
    button.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
  }

  // One file at a time: the button takes the next when it has sent the last.
  async function giveAll(files) {
    for (const file of files) {
      give(file);
      await new Promise((done) => setTimeout(done, 400));
    }
  }

  async function dropped(event) {
    const entries = [...event.dataTransfer.items]
      .map((item) => (item.webkitGetAsEntry ? item.webkitGetAsEntry() : null))
      .filter(Boolean);
    const plain = [...event.dataTransfer.files];
    if (!entries.some((entry) => entry.isDirectory)) return giveAll(plain);
    const files = [];
    for (const entry of entries) {
      const found = await inside(entry, "");
      files.push(entry.isDirectory ? await packed(entry.name, found) : found[0][1]);
    }
    return giveAll(files);
  }

  // The name of the page says when work is in no file; the words of the question are the browser's.
  window.addEventListener("beforeunload", (event) => {
    if (document.body.textContent.includes("Homodyn studio (unsaved work)")) event.preventDefault();
  });

  window.addEventListener("DOMContentLoaded", () => {
    keep.observe(document.querySelector("title"), { childList: true });
    const veil = document.createElement("div");
    veil.id = "homodyn-drop";
    veil.textContent = "Drop a recording, a model or a folder of results to open it";
    document.body.append(veil);
    const carries = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
    let depth = 0;
    const over = (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      veil.classList.add("over");
    };
    document.addEventListener("dragenter", (event) => { if (carries(event)) depth += 1; over(event); });
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", () => {
      depth = Math.max(0, depth - 1);
      if (!depth) veil.classList.remove("over");
    });
    document.addEventListener("drop", (event) => {
      depth = 0;
      veil.classList.remove("over");
      if (!carries(event)) return;
      event.preventDefault();
      dropped(event);
    });
  });
})();
