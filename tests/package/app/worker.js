import { answer } from "./answers.js";

addEventListener("message", ({ data }) => void answer(data).then((answered) => postMessage(answered)));
