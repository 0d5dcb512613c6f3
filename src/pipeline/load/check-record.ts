import { didYouMean } from '../../core/text/did-you-mean.ts'
import { PluginError } from './plugin-error.ts'

/** The name of a plugin. @throws PluginError when it is missing or invalid */
export function checkName(file: string, candidate: { name?: unknown }): string {
  const { name } = candidate
  if (typeof name === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return name
  throw new PluginError(file, `expected a name of a-z, 0-9 and "-" but received ${JSON.stringify(name)}`)
}

/** Refuses unknown members: a misspelt member would otherwise have no effect, without an error. @throws PluginError */
export function checkMembers(file: string, candidate: object, known: readonly string[], what: string): void {
  for (const member of Object.keys(candidate)) {
    if (known.includes(member)) continue
    const hint = didYouMean(member, known) || `; there are ${known.join(', ')}`
    throw new PluginError(file, `${what} has no member ${member}${hint}`)
  }
}

/** Whether a value is a valid plugin version. The default version is 1. */
export function isVersion(value: unknown): boolean {
  return value === undefined || (Number.isInteger(value) && Number(value) >= 1)
}

/** Whether a value is an object, and not an array. */
export function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
