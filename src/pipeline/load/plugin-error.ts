/** A plugin that cannot be used. The message names its file. */
export class PluginError extends Error {
  constructor(file: string, reason: string, cause?: unknown) {
    super(`plugin ${file}: ${reason}`, { cause })
    this.name = 'PluginError'
  }
}

/** Something in `config/chain.json` that does not fit the plugins. The message names its key. */
export class ChainError extends Error {
  constructor(key: string, reason: string) {
    super(`config/chain.json: ${key}: ${reason}`)
    this.name = 'ChainError'
  }
}

/** What a plugin itself says of its options: its fault, in its words. @throws PluginError */
export function blaming<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new PluginError(file, cause instanceof Error ? cause.message : String(cause), cause)
  }
}
