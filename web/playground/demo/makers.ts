/**
 * What is made only when somebody asks for it: loaded then.
 * @module
 */
export { salesChart } from "./chart.js";
export { sourceCode, webPage } from "./documents.js";
export { noise } from "./noise.js";
export { jingle } from "./sound.js";
