/** The user's settings are unusable; the message says which, why, and what to write instead. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
