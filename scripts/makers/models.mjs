/**
 * Models and drawings.
 * @module
 */

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "OpenSCAD and Assimp",
    debian: ["openscad", "assimp-utils"],
    shell: `echo 'cube([1,2,3]);' > c.scad; export QT_QPA_PLATFORM=offscreen; openscad -q -o ascii.stl c.scad; openscad -q -o c.off c.scad; openscad -q -o c.3mf c.scad || true
a() { assimp export ascii.stl "$1" "$2" >/dev/null 2>&1 || true; }
a c.obj; a c.ply; a bin.stl -fstlb; a c.glb; a c.gltf; a c.dae; a c.fbx; a c.stp; a c.x3d; a binary.ply -fplyb`,
    files: {
      "ascii.stl": ["STL model", "12 triangles"],
      "bin.stl": ["STL model", "12 triangles"],
      "c.ply": ["PLY model", /vertices/],
      "c.obj": [/OBJ/],
      "c.glb": ["glTF model"],
      "c.gltf": ["glTF model"],
      "c.dae": ["COLLADA model"],
      "c.fbx": ["FBX model", "version 7"],
      "c.stp": ["STEP model", /entities/],
      "c.x3d": [/X3D/],
      "c.3mf": [/3MF/],
    },
  },
];
