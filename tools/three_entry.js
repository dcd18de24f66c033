// What the headset page uses of three.js. To build src/homodyn/studio/assets/three.min.js:
//   npm install three@0.187.0 esbuild
//   npx esbuild tools/three_entry.js --bundle --minify --format=esm --legal-comments=inline \
//     --target=es2020 --outfile=src/homodyn/studio/assets/three.min.js
export { AmbientLight, BufferGeometry, CapsuleGeometry, CircleGeometry, Color, DirectionalLight, Float32BufferAttribute, GridHelper, Group, HemisphereLight, InstancedMesh, Line, LineBasicMaterial, Matrix4, Mesh, MeshBasicMaterial, MeshStandardMaterial, PerspectiveCamera, PlaneGeometry, Quaternion, Scene, SphereGeometry, SRGBColorSpace, TorusGeometry, Vector3, WebGLRenderer, CanvasTexture } from "three";
