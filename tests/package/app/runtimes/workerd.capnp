using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = (
    compatibilityDate = "2026-01-01",
    modules = [
      (name = "worker.js", esModule = embed "../built/workerd/dist/worker.js"),
      (name = "core.wasm", wasm = embed "../built/workerd/dist/core.wasm"),
      (name = "facts.wasm", wasm = embed "../built/workerd/dist/facts.wasm"),
      (name = "tables.wasm", wasm = embed "../built/workerd/dist/tables.wasm"),
      (name = "pdfium.wasm", wasm = embed "../built/workerd/dist/pdfium.wasm"),
      (name = "png.wasm", wasm = embed "../built/workerd/dist/png.wasm"),
      (name = "jpeg-encoder.wasm", wasm = embed "../built/workerd/dist/jpeg-encoder.wasm"),
    ],
  ))],
);
