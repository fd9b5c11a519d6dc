import { answer } from "./answers.js";

addEventListener("message", ({ data: { question, terms }, ports: [port] }) => {
  const openWindow = (url) => port.postMessage({ open: url }, []);
  void answer(question, terms, openWindow).then((answered) => port.postMessage({ answered }, []));
});
