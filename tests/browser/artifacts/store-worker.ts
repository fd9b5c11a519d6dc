/** A dedicated worker with a store. */
import { serve } from "./serving.js";

serve(globalThis as never);
