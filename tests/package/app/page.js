/**
 * Asks the question behind `?` here, in a worker and in a service worker; the answers are in the page's `output`.
 * @module
 */
import coreUrl from "mcp-sluice/core.wasm?url";
import { createSluice, MemoryArtifactStore } from "mcp-sluice";
import { answer, attempt } from "./answers.js";
import { roundTrip } from "./round-trip.js";

const question = decodeURIComponent(location.search.slice(1)) || "round trip";
const wasm = new URL(coreUrl, location.href);

const report = {
  page: await answer(question),
  worker: await attempt(askWorker),
  serviceWorker: await attempt(askServiceWorker),
  coreByUrl: await attempt(() => roundTrip((options) => createSluice({ ...options, wasm }), new MemoryArtifactStore())),
};
document.querySelector("output").textContent = JSON.stringify(report);

function askWorker() {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  return new Promise((resolve, reject) => {
    worker.addEventListener("message", ({ data }) => resolve(data), { once: true });
    worker.addEventListener("error", ({ message }) => reject(new Error(`worker: ${message}`)), { once: true });
    worker.postMessage(question, []);
  });
}

async function askServiceWorker() {
  await navigator.serviceWorker.register("/service-worker.js", { type: "module" });
  const { active } = await navigator.serviceWorker.ready;
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.addEventListener("message", ({ data }) => resolve(data), { once: true });
    port1.start();
    active.postMessage(question, [port2]);
  });
}
