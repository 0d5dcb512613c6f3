import { didYouMean } from '../../core/text/did-you-mean.ts'
import { PluginError } from './plugin-error.ts'

/** The name that every plugin has. @throws PluginError */
export function checkName(file: string, candidate: { name?: unknown }): string {
  const { name } = candidate
  if (typeof name === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return name
  throw new PluginError(file, `expected a name of a-z, 0-9 and "-" but received ${JSON.stringify(name)}`)
}

/** A misspelt member would else do nothing, in silence. @throws PluginError */
export function checkMembers(file: string, candidate: object, known: readonly string[], what: string): void {
  for (const member of Object.keys(candidate)) {
    if (known.includes(member)) continue
    const hint = didYouMean(member, known) || `; there are ${known.join(', ')}`
    throw new PluginError(file, `${what} has no member ${member}${hint}`)
  }
}

/** Whether a plugin can have this version; without one it has 1. */
export function isVersion(value: unknown): boolean {
  return value === undefined || (Number.isInteger(value) && Number(value) >= 1)
}

/** An object with members, no array. */
export function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
