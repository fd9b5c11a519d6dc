/**
 * Answers questions here or in a worker: `ask` is what the tests call.
 * @module
 */
import { answer } from "./answers.js";

const openWindow = (url) => void window.open(url);
let worker;

globalThis.ask = (place, question, terms) =>
  place === "page" ? answer(question, terms, openWindow) : askWorker(question, terms);

document.querySelector("output").textContent = "ready";

function askWorker(question, terms) {
  worker ??= new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve, reject) => {
    worker.addEventListener("error", ({ message }) => reject(new Error(`worker: ${message}`)), { once: true });
    // A worker opens no windows: it asks for that.
    port1.addEventListener("message", ({ data }) => ("open" in data ? openWindow(data.open) : resolve(data.answered)));
    port1.start();
    worker.postMessage({ question, terms }, [port2]);
  });
}
