/**
 * The browser that the tests drive.
 * @module
 */
import { findOnPath, isProgram } from "./on-path.mjs";

/** First Chromium without windows: the same engine, with a third less work. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

const MACOS = ["Chromium", "Google Chrome"].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);

/** The program of Chromium or Chrome: `SLUICE_CHROMIUM` where it is set, else what is installed, or nothing. */
export function findChromium() {
  const named = process.env.SLUICE_CHROMIUM;
  if (named) return isProgram(named) ? named : undefined;
  return NAMES.map(findOnPath).find(Boolean) ?? MACOS.find(isProgram);
}
