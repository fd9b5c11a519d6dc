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
  {
    maker: "ADMesh",
    debian: ["admesh", "openscad"],
    shell: `echo 'cube([1,2,3]);' > ad.scad; QT_QPA_PLATFORM=offscreen openscad -q -o ad.stl ad.scad; admesh -a admesh.stl ad.stl >/dev/null; admesh -b admesh-b.stl ad.stl >/dev/null`,
    files: { "admesh.stl": ["STL model", "12 triangles"], "admesh-b.stl": ["STL model", "12 triangles"] },
  },
  {
    maker: "Gmsh",
    debian: ["gmsh"],
    shell: `printf 'SetFactory("OpenCASCADE");\\nBox(1) = {0,0,0,1,2,3};\\n' > g.geo; gmsh -v 0 -2 g.geo -o gmsh.msh; gmsh -v 0 -2 g.geo -o gmsh.stl; gmsh -v 0 -0 g.geo -o gmsh.step; gmsh -v 0 -0 g.geo -o gmsh.brep; gmsh -v 0 -2 g.geo -o gmsh.vtk; gmsh -v 0 -2 g.geo -o gmsh.ply2; gmsh -v 0 -2 g.geo -o gmsh.unv`,
    files: {
      "gmsh.msh": [/Gmsh/],
      "gmsh.stl": ["STL model", /triangles/],
      "gmsh.step": ["STEP model", /entities/],
      "gmsh.vtk": [/VTK/],
    },
  },
  {
    maker: "Open CASCADE",
    debian: ["occt-draw", "libocct-draw-dev"],
    shell: `printf 'pload ALL\\nbox b 1 2 3\\nbrepiges b occt.igs\\nstepwrite a b occt.step\\nwritebrep b occt.brep\\nincmesh b 0.1\\nwritestl b occt.stl\\nexit\\n' > o.tcl; occt-draw -b -f o.tcl >/dev/null 2>&1`,
    files: { "occt.igs": ["IGES model"], "occt.step": ["STEP model", /entities/], "occt.brep": [/BREP|Open CASCADE/] },
  },
  {
    maker: "ezdxf",
    debian: ["python3-ezdxf"],
    python: `
import ezdxf
for version in ["R12", "R2000", "R2018"]:
    d = ezdxf.new(version)
    for n in range(5): d.modelspace().add_line((0, 0), (n, n))
    d.saveas("ezdxf-%s.dxf" % version)
`,
    files: {
      "ezdxf-R12.dxf": ["DXF drawing"],
      "ezdxf-R2000.dxf": ["DXF drawing"],
      "ezdxf-R2018.dxf": ["DXF drawing"],
    },
  },
  {
    maker: "Slic3r",
    debian: ["slic3r", "openscad"],
    shell: `echo 'cube([9,9,9]);' > sl.scad; QT_QPA_PLATFORM=offscreen openscad -q -o sl.stl sl.scad; slic3r sl.stl -o slic3r.gcode >/dev/null 2>&1; slic3r --export-obj sl.stl -o slic3r.obj > /dev/null 2>&1 || true; slic3r --export-svg sl.stl -o slic3r.svg >/dev/null 2>&1 || true`,
    files: { "slic3r.gcode": [/G-code/, /lines/] },
  },
  {
    maker: "meshio",
    debian: ["python3-meshio"],
    python: `
import meshio
m = meshio.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [("triangle", [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])])
for name in ["meshio.obj", "meshio.ply", "meshio.stl", "meshio.vtk", "meshio.vtu", "meshio.off"]: m.write(name)
`,
    files: {
      "meshio.obj": ["OBJ model", /vertices|faces/],
      "meshio.ply": ["PLY model", "4 vertices"],
      "meshio.stl": ["STL model", "4 triangles"],
      "meshio.off": ["OFF model", /4 vertices/],
    },
  },
  {
    maker: "pstoedit",
    debian: ["pstoedit", "ghostscript"],
    shell: `printf '%%!PS-Adobe-3.0\\n10 10 moveto 90 90 lineto stroke showpage\\n' > p.ps; pstoedit -q -f dxf p.ps pstoedit.dxf 2>/dev/null; pstoedit -q -f hpgl p.ps pstoedit.plt 2>/dev/null`,
    files: { "pstoedit.dxf": ["DXF drawing"], "pstoedit.plt": [/HPGL|plot/] },
  },
  {
    maker: "VTK's exporters",
    debian: ["python3-vtk9"],
    python: `
import vtk
s = vtk.vtkSphereSource(); s.Update()
for w, n in [(vtk.vtkSTLWriter(), "vtk.stl"), (vtk.vtkPLYWriter(), "vtk.ply")]:
    w.SetFileName(n); w.SetInputData(s.GetOutput()); w.SetFileTypeToBinary(); w.Write()
`,
    files: { "vtk.stl": ["STL model", "96 triangles"], "vtk.ply": ["PLY model", "50 vertices", "96 faces"] },
  },
  {
    maker: "three.js",
    npm: ["three@0.187.0"],
    node: `
import { writeFileSync } from "node:fs";
globalThis.FileReader = class { readAsArrayBuffer(blob) { blob.arrayBuffer().then((b) => { this.result = b; this.onloadend(); }); } readAsDataURL(blob) { blob.arrayBuffer().then((b) => { this.result = "data:application/octet-stream;base64," + Buffer.from(b).toString("base64"); this.onloadend(); }); } };
const { Mesh, BoxGeometry, MeshBasicMaterial, MeshStandardMaterial, Scene } = await import("three");
const { GLTFExporter } = await import("three/examples/jsm/exporters/GLTFExporter.js");
const { STLExporter } = await import("three/examples/jsm/exporters/STLExporter.js");
const { OBJExporter } = await import("three/examples/jsm/exporters/OBJExporter.js");
const { PLYExporter } = await import("three/examples/jsm/exporters/PLYExporter.js");
const { USDZExporter } = await import("three/examples/jsm/exporters/USDZExporter.js");
const scene = new Scene(); scene.add(new Mesh(new BoxGeometry(1, 2, 3), new MeshStandardMaterial()));
scene.updateMatrixWorld(true);
writeFileSync("three.glb", Buffer.from(await new GLTFExporter().parseAsync(scene, { binary: true }))); writeFileSync("three.gltf", JSON.stringify(await new GLTFExporter().parseAsync(scene, {})));
writeFileSync("three.stl", new STLExporter().parse(scene)); writeFileSync("three-b.stl", Buffer.from(new STLExporter().parse(scene, { binary: true }).buffer)); writeFileSync("three.obj", new OBJExporter().parse(scene)); writeFileSync("three.ply", new PLYExporter().parse(scene, undefined, {}));
writeFileSync("three.usdz", Buffer.from(await new USDZExporter().parseAsync(scene)));
`,
    files: {
      "three.glb": ["glTF model", "1 mesh"],
      "three.gltf": ["glTF model", "1 mesh"],
      "three.stl": ["STL model", "12 triangles"],
      "three-b.stl": ["STL model", "12 triangles"],
      "three.obj": ["OBJ model", "12 faces"],
      "three.ply": ["PLY model", "24 vertices"],
      "three.usdz": ["USDZ model"],
    },
  },
  {
    maker: "glTF Transform",
    npm: ["@gltf-transform/core@4.5.1"],
    node: `
import { writeFileSync } from "node:fs";
import { Document, NodeIO } from "@gltf-transform/core";
const d = new Document(); d.createBuffer(); d.createMesh("a"); d.createMesh("b"); d.createScene().addChild(d.createNode());
writeFileSync("transform.glb", await new NodeIO().writeBinary(d));
`,
    files: { "transform.glb": ["glTF model", "2 meshes"] },
  },
  {
    maker: "dxf-writer",
    npm: ["dxf-writer@1.18.4"],
    node: `
import { writeFileSync } from "node:fs";
import Drawing from "dxf-writer";
const d = new Drawing(); d.setUnits("Millimeters"); d.drawLine(0, 0, 9, 9); writeFileSync("dxf-writer.dxf", d.toDxfString());
`,
    files: { "dxf-writer.dxf": ["DXF drawing"] },
  },
  {
    maker: "web-ifc",
    npm: ["web-ifc@0.0.78"],
    node: `
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
const { IfcAPI, IFC4 } = createRequire(process.cwd() + "/")("web-ifc");
const api = new IfcAPI(); await api.Init();
const model = api.CreateModel({ schema: "IFC4", name: "house" });
api.WriteLine(model, new IFC4.IfcCartesianPoint([new IFC4.IfcLengthMeasure(1), new IFC4.IfcLengthMeasure(2), new IFC4.IfcLengthMeasure(3)]));
writeFileSync("web.ifc", api.SaveModel(model));
`,
    files: { "web.ifc": ["IFC model", /entit/] },
  },
];
