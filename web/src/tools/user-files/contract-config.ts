/**
 * How the gate reduces what may follow the contract: bytes go, and what says which files they are stays to be read.
 * @module
 */
import type { SluiceConfig } from "../../core/config.js";

/** Characters of a contract's members: 256 files with names, paths and descriptions as long as they may be are twice as much. */
const MAX_MEMBER = 1_000_000;

/**
 * The configuration with which results of a source with `user_files: true` are reduced first. Every run of bytes is stored, so that
 * none of them is held with the contract; what text there is to be stored is found when the contract is read.
 */
export function contractConfig(config: SluiceConfig | undefined): SluiceConfig {
  const binary_detection = { ...config?.binary_detection, enabled: true, require_magic_bytes: false };
  const guardrail = { ...config?.guardrail, max_observation_chars: MAX_MEMBER };
  return { ...config, max_inline_size: MAX_MEMBER, binary_detection, guardrail };
}
