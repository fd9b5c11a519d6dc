import { describe } from "vitest";
import { MemoryArtifactSessions } from "../../../web/src/server/artifacts/sessions.js";
import { sessionsContract } from "./sessions-contract.js";

describe("sessions in memory", () => {
  sessionsContract(() => new MemoryArtifactSessions());
});
