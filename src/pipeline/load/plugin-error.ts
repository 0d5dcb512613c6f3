/** A plugin that cannot be used. The message names its file. */
export class PluginError extends Error {
  constructor(file: string, reason: string, cause?: unknown) {
    super(`plugin ${file}: ${reason}`, { cause })
    this.name = 'PluginError'
  }
}

/** An error in `config/chain.json`, such as an unknown plugin. The message names its key. */
export class ChainError extends Error {
  constructor(key: string, reason: string) {
    super(`config/chain.json: ${key}: ${reason}`)
    this.name = 'ChainError'
  }
}

/** Runs a function of a plugin, and converts its errors. @throws PluginError with the message of the plugin */
export function withPluginErrors<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new PluginError(file, cause instanceof Error ? cause.message : String(cause), cause)
  }
}
