// The replay of a motion on a canvas: segments, markers with their errors, ground forces and floor.
// World: meters, z up. All data are in the page; nothing is fetched.
"use strict";
(function () {
  const root = document.getElementById("player");
  const source = document.getElementById("replay-data");
  if (!root || !source) return;
  const data = JSON.parse(source.textContent);
  const canvas = root.querySelector("canvas");
  const ctx = canvas.getContext("2d");
  if (!ctx) return;
  root.classList.add("live");

  const MISSING = -32768;
  function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed.data), (c) => c.charCodeAt(0));
    const steps = new Int16Array(bytes.buffer);
    const out = new Float32Array(steps.length);
    for (let i = 0; i < steps.length; i++) {
      out[i] = steps[i] === MISSING ? NaN : steps[i] * packed.scale + packed.offset[i % 3];
    }
    return out;
  }
  const frames = data.frames;
  const ends = unpack(data.segments.ends);
  const model = unpack(data.markers.model);
  const measured = unpack(data.markers.measured);
  const com = unpack(data.com);
  const feet = data.feet.map((f) => ({ side: f.side, force: unpack(f.force), point: unpack(f.point) }));
  const lines = data.muscles && {
    counts: data.muscles.counts,
    total: data.muscles.counts.reduce((sum, n) => sum + n, 0),
    points: unpack(data.muscles.points),
    levels: new Int16Array(Uint8Array.from(atob(data.muscles.activations), (c) => c.charCodeAt(0)).buffer),
  };
  function bytes(text) { return Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer; }
  const bones = data.bones && {
    ...data.bones,
    vertices: unpack(data.bones.vertices),
    triangles: data.bones.triangles.map((text) => new Uint16Array(bytes(text))),
    origins: unpack(data.bones.origins),
    axes: Float32Array.from(new Int16Array(bytes(data.bones.axes)), (x) => x / 32000),
  };
  const segmentCount = data.segments.radius.length;
  const markerCount = data.markers.names.length;

  // ---- camera ----------------------------------------------------------------------------------
  const camera = { yaw: 0, pitch: 0.12, distance: 4.2, pan: [0, 0, 0] };
  let target = [0, 0, 1];
  let right, upward, toward, eye, focal, middle;
  const VIEWS = {
    right: [data.heading - Math.PI / 2, 0.06],
    front: [data.heading, 0.08],
    left: [data.heading + Math.PI / 2, 0.06],
    above: [data.heading - Math.PI / 2, 1.5],
    corner: [data.heading - 0.95, 0.26],
  };
  function look(name) {
    [camera.yaw, camera.pitch] = VIEWS[name];
    camera.pan = [0, 0, 0];
    camera.distance = 1.95 * data.height;
    draw();
  }
  function place(frame) {
    const at = options.follow ? point(com, frame, 0, 1) : data.center;
    target = [at[0] + camera.pan[0], at[1] + camera.pan[1], data.height * 0.5 + camera.pan[2]];
    const cy = Math.cos(camera.yaw), sy = Math.sin(camera.yaw);
    const cp = Math.cos(camera.pitch), sp = Math.sin(camera.pitch);
    toward = [cy * cp, sy * cp, sp];
    right = [-sy, cy, 0];
    upward = [-cy * sp, -sy * sp, cp];
    eye = [0, 1, 2].map((k) => target[k] + camera.distance * toward[k]);
    focal = 1.35 * canvas.clientHeight;
    middle = [canvas.clientWidth / 2, canvas.clientHeight / 2];
  }
  function dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
  function project(p) {
    const d = [p[0] - eye[0], p[1] - eye[1], p[2] - eye[2]];
    const depth = -dot(d, toward);
    const s = focal / Math.max(depth, 0.05);
    return { x: middle[0] + s * dot(d, right), y: middle[1] - s * dot(d, upward), depth, s };
  }
  function point(array, frame, index, count) {
    const at = 3 * (frame * count + index);
    return [array[at], array[at + 1], array[at + 2]];
  }

  // ---- colors of the page, light or dark ------------------------------------------------------
  let paint = {};
  function readColors() {
    const style = getComputedStyle(root);
    const names = ["right", "left", "middle", "ink", "gray", "grid", "paper", "alert", "force"];
    paint = Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
  }
  function mix(color, other, share) {
    const parse = (c) => [1, 3, 5].map((k) => parseInt(c.slice(k, k + 2), 16));
    const a = parse(color), b = parse(other);
    return "rgb(" + a.map((x, k) => Math.round(x + (b[k] - x) * share)).join(",") + ")";
  }

  // ---- drawing --------------------------------------------------------------------------------
  function mixed(color, other, share) {
    const a = color.match(/\d+/g).map(Number);
    return mix("#" + a.map((x) => x.toString(16).padStart(2, "0")).join(""), other, share);
  }
  function stroke(a, b, color, width) {
    if (a.depth < 0.1 || b.depth < 0.1) return;
    ctx.strokeStyle = color;
    ctx.lineWidth = width;
    ctx.beginPath();
    ctx.moveTo(a.x, a.y);
    ctx.lineTo(b.x, b.y);
    ctx.stroke();
  }
  function floor() {
    const cell = 0.5, reach = 6;
    const x0 = Math.round(target[0] / cell) * cell, y0 = Math.round(target[1] / cell) * cell;
    const z = data.floor;
    for (let k = -reach; k <= reach; k++) {
      const strong = (v) => (Math.abs(v - Math.round(v)) < 1e-6 ? 1 : 0.55);
      ctx.globalAlpha = strong(x0 + k * cell);
      stroke(project([x0 + k * cell, y0 - reach * cell, z]), project([x0 + k * cell, y0 + reach * cell, z]), paint.grid, 1);
      ctx.globalAlpha = strong(y0 + k * cell);
      stroke(project([x0 - reach * cell, y0 + k * cell, z]), project([x0 + reach * cell, y0 + k * cell, z]), paint.grid, 1);
    }
    ctx.globalAlpha = 1;
    for (const plate of data.plates) {
      ctx.beginPath();
      plate.map(project).forEach((p, k) => (k ? ctx.lineTo(p.x, p.y) : ctx.moveTo(p.x, p.y)));
      ctx.closePath();
      ctx.globalAlpha = 0.14;
      ctx.fillStyle = paint.ink;
      ctx.fill();
      ctx.globalAlpha = 0.8;
      ctx.strokeStyle = paint.gray;
      ctx.lineWidth = 1.2;
      ctx.stroke();
      ctx.globalAlpha = 1;
    }
  }
  function shadow(frame) {
    ctx.strokeStyle = paint.ink;
    ctx.globalAlpha = 0.07;
    ctx.lineCap = "round";
    for (let k = 0; k < segmentCount; k++) {
      const a = point(ends, frame, 2 * k, 2 * segmentCount), b = point(ends, frame, 2 * k + 1, 2 * segmentCount);
      a[2] = b[2] = data.floor;
      const p = project(a), q = project(b);
      stroke(p, q, paint.ink, Math.max(1.4 * data.segments.radius[k] * (p.s + q.s) / 2, 1));
    }
    ctx.globalAlpha = 1;
  }
  // The outline of a capsule in perspective: two circles and their common tangents.
  function capsule(p, q, radius, color, unseen) {
    let a = p, b = q, ra = Math.max(radius * p.s, 1), rb = Math.max(radius * q.s, 1);
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    if (rb > ra) [a, b, ra, rb] = [b, a, rb, ra];
    const angle = Math.atan2(b.y - a.y, b.x - a.x);
    ctx.beginPath();
    if (length <= ra - rb) {
      ctx.arc(a.x, a.y, ra, 0, 2 * Math.PI);
    } else {
      const lean = Math.acos((ra - rb) / length);
      ctx.arc(a.x, a.y, ra, angle + lean, angle - lean + 2 * Math.PI);
      ctx.arc(b.x, b.y, rb, angle - lean, angle + lean);
      ctx.closePath();
    }
    const nx = -Math.sin(angle), ny = Math.cos(angle), flip = ny > 0 ? -1 : 1;
    const shade = ctx.createLinearGradient(a.x + flip * nx * ra, a.y + flip * ny * ra, a.x - flip * nx * ra, a.y - flip * ny * ra);
    shade.addColorStop(0, mix(color, "#ffffff", 0.18));
    shade.addColorStop(0.35, mix(color, "#ffffff", 0.38));
    shade.addColorStop(1, mix(color, "#000000", 0.22));
    ctx.fillStyle = shade;
    const share = unseen ? 0.15 : 1;
    ctx.globalAlpha = options.body ? 0.92 * share : 0;
    ctx.fill();
    ctx.globalAlpha = (options.body ? 0.55 : 0.9) * share;
    ctx.strokeStyle = mix(color, "#000000", 0.45);
    ctx.lineWidth = 1;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
  function body(frame) {
    const parts = [];
    for (let k = 0; k < segmentCount; k++) {
      if (bones && options.bones && !options.body && data.segments.bone[k]) continue;
      const a = project(point(ends, frame, 2 * k, 2 * segmentCount));
      const b = project(point(ends, frame, 2 * k + 1, 2 * segmentCount));
      if (a.depth > 0.1 && b.depth > 0.1) parts.push({ a, b, k, depth: (a.depth + b.depth) / 2 });
    }
    parts.sort((one, other) => other.depth - one.depth);
    const { radius, side, unseen } = data.segments;
    for (const { a, b, k } of parts) capsule(a, b, radius[k], paint[side[k]], unseen[k]);
  }
  // Bones as triangles that are sorted by depth and shaded by their slope to the eye.
  function drawBones(frame) {
    const faces = [];
    let first = 0;
    bones.counts.forEach((count, k) => {
      const at = frame * bones.bodies + bones.body[k];
      const origin = point(bones.origins, frame, bones.body[k], bones.bodies);
      const axes = bones.axes.subarray(9 * at, 9 * at + 9);
      const corners = [];
      for (let n = first; n < first + count; n++) {
        const local = bones.vertices.subarray(3 * n, 3 * n + 3);
        const p = [0, 1, 2].map((x) => origin[x] + axes[x] * local[0] + axes[3 + x] * local[1] + axes[6 + x] * local[2]);
        corners.push(project(p));
      }
      first += count;
      const color = mix(paint.paper, paint[bones.side[k]], 0.25), cells = bones.triangles[k];
      const shades = [0, 1, 2, 3, 4, 5].map((n) => mixed(color, "#000000", 0.45 - 0.075 * n));
      for (let n = 0; n < cells.length; n += 3) {
        const a = corners[cells[n]], b = corners[cells[n + 1]], c = corners[cells[n + 2]];
        if (a.depth < 0.1 || b.depth < 0.1 || c.depth < 0.1) continue;
        const area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        const u = [(b.x - a.x) / a.s, (b.y - a.y) / a.s, b.depth - a.depth];
        const v = [(c.x - a.x) / a.s, (c.y - a.y) / a.s, c.depth - a.depth];
        const n3 = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        const slope = Math.abs(n3[2]) / (Math.hypot(...n3) || 1);
        if (area) faces.push({ a, b, c, depth: a.depth + b.depth + c.depth, fill: shades[Math.min(Math.floor(6 * slope), 5)] });
      }
    });
    faces.sort((one, other) => other.depth - one.depth);
    ctx.lineWidth = 0.6;
    for (const { a, b, c, fill } of faces) {
      ctx.fillStyle = ctx.strokeStyle = fill;
      ctx.beginPath();
      ctx.moveTo(a.x, a.y);
      ctx.lineTo(b.x, b.y);
      ctx.lineTo(c.x, c.y);
      ctx.closePath();
      ctx.fill();
      ctx.stroke();
    }
  }
  // Muscles over the body: gray at rest, colored and wider with activation; thin where it is not known.
  function muscles(frame) {
    let first = 0;
    ctx.lineJoin = "round";
    lines.counts.forEach((count, muscle) => {
      const level = lines.levels[frame * lines.counts.length + muscle] / 100;
      const path = [];
      for (let k = 0; k < count; k++) path.push(project(point(lines.points, frame, first + k, lines.total)));
      first += count;
      if (path.some((p) => p.depth < 0.1)) return;
      ctx.globalAlpha = level < 0 ? 0.35 : 0.55 + 0.45 * Math.min(3 * level, 1);
      ctx.strokeStyle = mix(paint.gray, paint.alert, Math.min(Math.max(level, 0) * 2.5, 1));
      ctx.lineWidth = level < 0 ? 1 : 1.2 + 7 * level;
      ctx.beginPath();
      path.forEach((p, k) => (k ? ctx.lineTo(p.x, p.y) : ctx.moveTo(p.x, p.y)));
      ctx.stroke();
    });
    ctx.globalAlpha = 1;
  }
  function disc(p, radius, fill, outline) {
    ctx.beginPath();
    ctx.arc(p.x, p.y, radius, 0, 2 * Math.PI);
    if (fill) { ctx.fillStyle = fill; ctx.fill(); }
    if (outline) { ctx.strokeStyle = outline; ctx.lineWidth = 1.2; ctx.stroke(); }
  }
  function markers(frame) {
    ctx.font = "11px system-ui, sans-serif";
    for (let k = 0; k < markerCount; k++) {
      const there = point(measured, frame, k, markerCount);
      const p = project(point(model, frame, k, markerCount));
      if (p.depth < 0.1) continue;
      disc(p, Math.max(0.0075 * p.s, 1.8), null, paint.ink);
      if (isFinite(there[0])) {
        const q = project(there);
        stroke(p, q, paint.alert, 2);
        // The rim keeps a red marker visible on a red limb.
        disc(q, Math.max(0.0075 * q.s, 2.2), paint[data.markers.sides[k]], paint.paper);
      }
      if (options.names) {
        ctx.fillStyle = paint.ink;
        ctx.fillText(data.markers.names[k], p.x + 6, p.y - 5);
      }
    }
  }
  function forces(frame) {
    for (const foot of feet) {
      const from = point(foot.point, frame, 0, 1), force = point(foot.force, frame, 0, 1);
      const size = Math.hypot(...force);
      if (!isFinite(from[0]) || !(size > 0.02 * data.weight)) continue;
      const tip = from.map((x, k) => x + (data.arrow * force[k]) / data.weight);
      const p = project(from), q = project(tip);
      const color = foot.side === "middle" ? paint.force : paint[foot.side];
      stroke(p, q, paint.paper, 7);
      stroke(p, q, color, 4);
      const angle = Math.atan2(q.y - p.y, q.x - p.x);
      ctx.fillStyle = color;
      ctx.beginPath();
      ctx.moveTo(q.x + 7 * Math.cos(angle), q.y + 7 * Math.sin(angle));
      for (const turn of [2.5, -2.5]) ctx.lineTo(q.x + 9 * Math.cos(angle + turn), q.y + 9 * Math.sin(angle + turn));
      ctx.fill();
      ctx.font = "12px system-ui, sans-serif";
      ctx.strokeStyle = paint.paper;
      ctx.lineWidth = 3;
      ctx.strokeText(Math.round(size) + " N", q.x + 12, q.y - 6);
      ctx.fillStyle = paint.ink;
      ctx.fillText(Math.round(size) + " N", q.x + 12, q.y - 6);
    }
  }
  function trace(frame) {
    ctx.globalAlpha = 0.8;
    for (let k = Math.max(frame - 60, 0); k < frame; k++) {
      stroke(project(point(com, k, 0, 1)), project(point(com, k + 1, 0, 1)), paint.ink, 1.4);
    }
    ctx.globalAlpha = 1;
    const p = project(point(com, frame, 0, 1));
    disc(p, 5, paint.paper, paint.ink);
    disc(p, 1.6, paint.ink, null);
  }

  // ---- controls --------------------------------------------------------------------------------
  const options = { follow: true, body: !bones, bones: true, markers: true, forces: true, names: false, com: true, muscles: true };
  const slider = root.querySelector("input[type=range]");
  const playing = root.querySelector("[data-do=play]");
  const timeText = root.querySelector("output");
  const speed = root.querySelector("select");
  let now = Math.round(frames * data.first), running = false, before = 0, clock = 0;

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.lineCap = "round";
    place(now);
    floor();
    shadow(now);
    if (bones && options.bones) drawBones(now);
    body(now);
    if (lines && options.muscles) muscles(now);
    if (options.com && data.com_known) trace(now);
    if (options.markers) markers(now);
    if (options.forces) forces(now);
    slider.value = String(now);
    const time = data.start + now / data.rate;
    timeText.textContent = time.toFixed(2) + " s";
    slider.setAttribute("aria-valuetext", time.toFixed(2) + " seconds");
  }
  function go(frame) {
    now = Math.min(Math.max(Math.round(frame), 0), frames - 1);
    draw();
  }
  function run(on) {
    running = on;
    playing.textContent = on ? "❚❚ Pause" : "▶ Play";
    playing.setAttribute("aria-pressed", String(on));
    if (on) {
      if (now >= frames - 1) now = 0;
      clock = now;
      before = 0;
      requestAnimationFrame(step);
    }
  }
  function step(at) {
    if (!running) return;
    if (before) clock += ((at - before) / 1000) * data.rate * Number(speed.value);
    before = at;
    if (clock >= frames - 1) clock = 0;
    go(clock);
    requestAnimationFrame(step);
  }
  function events() {
    const bar = root.querySelector(".events");
    for (const event of data.events) {
      const mark = document.createElement("button");
      mark.type = "button";
      mark.className = event.side + (event.label.indexOf("Off") >= 0 ? " off" : "");
      mark.style.left = (100 * (event.time - data.start) * data.rate) / Math.max(frames - 1, 1) + "%";
      mark.title = event.side + " " + event.label + ", " + event.time.toFixed(2) + " s";
      mark.setAttribute("aria-label", mark.title);
      mark.onclick = () => { run(false); go((event.time - data.start) * data.rate); };
      bar.appendChild(mark);
    }
  }
  slider.max = String(frames - 1);
  slider.oninput = () => { run(false); go(Number(slider.value)); };
  playing.onclick = () => run(!running);
  for (const button of root.querySelectorAll("[data-view]")) button.onclick = () => look(button.dataset.view);
  for (const box of root.querySelectorAll("input[type=checkbox]")) {
    box.checked = options[box.name];
    box.onchange = () => { options[box.name] = box.checked; draw(); };
  }

  const fingers = new Map();
  let spread = 0;
  canvas.onpointerdown = (e) => {
    canvas.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    spread = 0;
  };
  canvas.onpointermove = (e) => {
    const last = fingers.get(e.pointerId);
    if (!last) return;
    const dx = e.clientX - last[0], dy = e.clientY - last[1];
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()];
      const gap = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (spread) camera.distance = Math.min(Math.max((camera.distance * spread) / gap, 0.4), 30);
      spread = gap;
    } else if (e.shiftKey || e.buttons === 2 || e.buttons === 4) {
      const move = camera.distance / focal;
      camera.pan = camera.pan.map((x, k) => x - move * (dx * right[k] - dy * upward[k]));
    } else {
      camera.yaw -= 0.008 * dx;
      camera.pitch = Math.min(Math.max(camera.pitch + 0.008 * dy, -0.3), 1.55);
    }
    draw();
  };
  canvas.onpointerup = canvas.onpointercancel = (e) => { fingers.delete(e.pointerId); spread = 0; };
  canvas.oncontextmenu = (e) => e.preventDefault();
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    camera.distance = Math.min(Math.max(camera.distance * Math.exp(0.0012 * e.deltaY), 0.4), 30);
    draw();
  }, { passive: false });
  root.addEventListener("keydown", (e) => {
    const typing = e.target.tagName === "SELECT" || e.target.type === "checkbox";
    const on = e.target === slider;
    const keys = {
      " ": () => run(!running),
      ArrowRight: () => { run(false); go(now + (e.shiftKey ? 10 : 1)); },
      ArrowLeft: () => { run(false); go(now - (e.shiftKey ? 10 : 1)); },
      Home: () => go(0),
      End: () => go(frames - 1),
      "+": () => { camera.distance /= 1.15; draw(); },
      "-": () => { camera.distance *= 1.15; draw(); },
    };
    if (!keys[e.key] || typing || (e.key === " " && e.target.tagName === "BUTTON")) return;
    if (on && e.key !== " ") return;
    e.preventDefault();
    keys[e.key]();
  });

  readColors();
  events();
  look("corner");
  window.addEventListener("resize", draw);
  window.addEventListener("beforeprint", draw);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => { readColors(); draw(); });
})();
