import { answer } from "./answers.js";

addEventListener("message", (event) =>
  event.waitUntil(answer(event.data).then((answered) => event.ports[0].postMessage(answered))),
);
