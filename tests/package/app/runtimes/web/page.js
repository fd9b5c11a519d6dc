import { smoke } from "../smoke.js";

const report = await smoke().catch(({ code, message, cause }) => ({ code, message, cause: String(cause) }));
document.querySelector("output").textContent = JSON.stringify(report);
