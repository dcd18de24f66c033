// The live body, ground forces and targets as a WebXR scene; without a headset, a flat page.
import * as THREE from "./three.min.js";

const SKY = 0xe9edf1, GROUND = 0xd3dae1, FORCE = 0x28965a, POINTER = 0x26313d;
const NEWTONS_PER_METER = 800;
const HEAD_PERIOD_MS = 33;

const renderer = new THREE.WebGLRenderer({ antialias: true });
renderer.setPixelRatio(window.devicePixelRatio);
renderer.setSize(window.innerWidth, window.innerHeight);
renderer.xr.enabled = true;
document.body.appendChild(renderer.domElement);

const scene = new THREE.Scene();
scene.background = new THREE.Color(SKY);
scene.add(new THREE.HemisphereLight(0xffffff, 0xb8c0c8, 2.4));
const sun = new THREE.DirectionalLight(0xffffff, 1.6);
sun.position.set(2, 4, 3);
scene.add(sun);
const camera = new THREE.PerspectiveCamera(50, window.innerWidth / window.innerHeight, 0.05, 60);

// The world of the body has Z up, that of WebXR has Y up.
const world = new THREE.Group();
world.rotation.x = -Math.PI / 2;
scene.add(world);
const floor = new THREE.Mesh(
  new THREE.PlaneGeometry(12, 12),
  new THREE.MeshStandardMaterial({ color: GROUND })
);
world.add(floor);
const grid = new THREE.GridHelper(12, 24, 0xaab4be, 0xc2cad2);
grid.rotation.x = Math.PI / 2;
grid.position.z = 0.002;
world.add(grid);

const unit = new THREE.SphereGeometry(1, 20, 14);
let capsules = [], arrows = [], model = "";
const target = new THREE.Mesh(unit, new THREE.MeshStandardMaterial({ transparent: true, opacity: 0.8 }));
const pointer = new THREE.Mesh(unit, new THREE.MeshStandardMaterial({ color: POINTER }));
target.visible = pointer.visible = false;
world.add(target, pointer);
let pathLine = null, pathKey = "";

function buildBody(message) {
  for (const capsule of capsules) world.remove(capsule);
  capsules = message.radii.map((radius, k) => {
    const length = Math.max(message.lengths[k], 1e-3);
    const shape = new THREE.CapsuleGeometry(radius, length, 6, 14);
    const [r, g, b] = message.colors[k];
    const material = new THREE.MeshStandardMaterial({ color: new THREE.Color(r, g, b), roughness: 0.7 });
    const mesh = new THREE.Mesh(shape, material);
    world.add(mesh);
    return mesh;
  });
  model = message.model;
}

const up = new THREE.Vector3(0, 1, 0), from = new THREE.Vector3(), to = new THREE.Vector3();
function placeCapsules(ends) {
  capsules.forEach((capsule, k) => {
    from.fromArray(ends, 6 * k);
    to.fromArray(ends, 6 * k + 3);
    capsule.position.copy(from).add(to).multiplyScalar(0.5);
    to.sub(from);
    if (to.lengthSq() > 1e-12) capsule.quaternion.setFromUnitVectors(up, to.normalize());
  });
}

function placeForces(forces) {
  while (arrows.length < forces.length) {
    const material = new THREE.MeshStandardMaterial({ color: FORCE });
    const arrow = new THREE.Mesh(new THREE.CapsuleGeometry(0.012, 1, 4, 8), material);
    world.add(arrow);
    arrows.push(arrow);
  }
  arrows.forEach((arrow, k) => {
    const force = forces[k];
    arrow.visible = force !== undefined;
    if (!arrow.visible) return;
    from.fromArray(force, 0);
    to.fromArray(force, 3).multiplyScalar(1 / NEWTONS_PER_METER);
    const length = to.length();
    arrow.position.copy(from).addScaledVector(to, 0.5);
    arrow.scale.set(1, Math.max(length, 1e-3), 1);
    if (length > 1e-6) arrow.quaternion.setFromUnitVectors(up, to.normalize());
  });
}

function placePath(points) {
  const key = JSON.stringify(points);
  if (key === pathKey) return;
  pathKey = key;
  if (pathLine) world.remove(pathLine);
  pathLine = null;
  if (points.length < 2) return;
  const shape = new THREE.BufferGeometry();
  shape.setAttribute("position", new THREE.Float32BufferAttribute(points.flat(), 3));
  pathLine = new THREE.Line(shape, new THREE.LineBasicMaterial({ color: 0x8a5fb0 }));
  world.add(pathLine);
}

// A tone whose frequency a stimulus sets.
let audio = null, tone = null, volume = null;
document.getElementById("sound").addEventListener("click", () => {
  if (audio) return;
  audio = new AudioContext();
  tone = audio.createOscillator();
  volume = audio.createGain();
  volume.gain.value = 0;
  tone.connect(volume).connect(audio.destination);
  tone.start();
  document.getElementById("sound").disabled = true;
});
function playTone(frequency) {
  if (!tone) return;
  volume.gain.setTargetAtTime(frequency > 0 ? 0.15 : 0, audio.currentTime, 0.02);
  if (frequency > 0) tone.frequency.setTargetAtTime(frequency, audio.currentTime, 0.02);
}

// A sign in the scene repeats the task, because a headset does not show the page.
const signCanvas = document.createElement("canvas");
signCanvas.width = 1024;
signCanvas.height = 160;
const signTexture = new THREE.CanvasTexture(signCanvas);
signTexture.colorSpace = THREE.SRGBColorSpace;
const sign = new THREE.Mesh(
  new THREE.PlaneGeometry(1.6, 0.25),
  new THREE.MeshBasicMaterial({ map: signTexture, transparent: true })
);
sign.position.set(0, 2.1, -2.2);
sign.visible = false;
scene.add(sign);
let signText = "";
function writeSign(text) {
  if (text === signText) return;
  signText = text;
  const pen = signCanvas.getContext("2d");
  pen.clearRect(0, 0, signCanvas.width, signCanvas.height);
  pen.font = "56px system-ui, sans-serif";
  pen.fillStyle = "#26313d";
  pen.textAlign = "center";
  pen.fillText(text, signCanvas.width / 2, 100, signCanvas.width - 20);
  signTexture.needsUpdate = true;
  document.getElementById("task").textContent = text;
}

const state = { frames: 0, drawn: 0, head: null, target: null, errors: 0, model: () => model };
window.homodynHeadset = state;

function receive(message) {
  if (message.kind === "body") return buildBody(message);
  state.frames += 1;
  placeCapsules(message.ends);
  placeForces(message.forces);
  document.getElementById("numbers").textContent =
    `Effort ${message.effort.toFixed(0)} N m, power ${message.power.toFixed(0)} W, ` +
    `latency ${message.latency_ms.toFixed(1)} ms`;
  writeSign(message.text);
  placePath(message.path);
  playTone(message.sound_hz);
  pointer.visible = message.pointer !== null;
  if (pointer.visible) {
    pointer.position.fromArray(message.pointer);
    pointer.scale.setScalar(message.pointer_radius);
  }
  state.target = message.target;
  target.visible = message.target !== null;
  if (target.visible) {
    target.position.fromArray(message.target.position);
    target.scale.setScalar(message.target.radius);
    target.material.color.setRGB(...message.target.color);
  }
}

let socket = null;
function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/stream`);
  socket.onopen = () => writeSign("Waiting for markers");
  socket.onmessage = (event) => {
    try {
      receive(JSON.parse(event.data));
    } catch (error) {
      state.errors += 1;
      console.error(error);
    }
  };
  socket.onclose = () => {
    writeSign("The session has ended");
    setTimeout(connect, 1000);
  };
}
connect();

// Flat page: the camera turns around the body by dragging, and moves by the wheel.
const view = { azimuth: -0.6, height: 0.25, distance: 3.6 };
function placeCamera() {
  const across = view.distance * Math.cos(view.height);
  camera.position.set(
    across * Math.sin(view.azimuth),
    1.0 + view.distance * Math.sin(view.height),
    across * Math.cos(view.azimuth)
  );
  camera.lookAt(0, 1.0, 0);
}
placeCamera();
renderer.domElement.addEventListener("pointermove", (event) => {
  if (!(event.buttons & 1)) return;
  view.azimuth -= 0.006 * event.movementX;
  view.height = Math.min(1.4, Math.max(-0.2, view.height + 0.006 * event.movementY));
  placeCamera();
});
renderer.domElement.addEventListener("wheel", (event) => {
  view.distance = Math.min(12, Math.max(0.8, view.distance * Math.exp(0.001 * event.deltaY)));
  placeCamera();
}, { passive: true });
window.addEventListener("resize", () => {
  if (renderer.xr.isPresenting) return;
  camera.aspect = window.innerWidth / window.innerHeight;
  camera.updateProjectionMatrix();
  renderer.setSize(window.innerWidth, window.innerHeight);
});

const enter = document.getElementById("enter");
if (navigator.xr) {
  navigator.xr.isSessionSupported("immersive-vr").then((supported) => {
    enter.disabled = !supported;
  });
}
enter.addEventListener("click", async () => {
  const current = renderer.xr.getSession();
  if (current) return current.end();
  const session = await navigator.xr.requestSession("immersive-vr", {
    optionalFeatures: ["local-floor"],
  });
  session.addEventListener("end", () => {
    enter.textContent = "Enter VR";
    sign.visible = false;
  });
  await renderer.xr.setSession(session);
  enter.textContent = "Leave VR";
  sign.visible = true;
});

let sentAt = 0;
const headPlace = new THREE.Vector3();
renderer.setAnimationLoop((time) => {
  renderer.render(scene, camera);
  state.drawn += 1;
  if (!renderer.xr.isPresenting || time - sentAt < HEAD_PERIOD_MS) return;
  sentAt = time;
  headPlace.setFromMatrixPosition(renderer.xr.getCamera().matrixWorld);
  // Y up to Z up.
  state.head = [headPlace.x, -headPlace.z, headPlace.y];
  if (socket && socket.readyState === WebSocket.OPEN) {
    socket.send(JSON.stringify({ head: state.head }));
  }
});
