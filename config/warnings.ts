import leven from 'leven'
import { ALIASES, aliasWarnings } from './aliases.ts'
import { VARIABLES } from './schema.ts'
import { telemetryWarnings } from './telemetry.ts'
import type { Environment } from './variable.ts'

// The environment has many variables of other programs. A short name of theirs may resemble one of ours.
const MIN_LENGTH = 8
const MAX_EDITS = 2

const PREFIX = 'SLUICE_'

/** Warnings about the environment: former names of variables, misspelt names, and unsupported values of OpenTelemetry. None has a value. */
export function configWarnings(environment: Environment = process.env): string[] {
  return [
    ...aliasWarnings(environment),
    ...misspeltWarnings(Object.keys(environment)),
    ...telemetryWarnings(environment),
  ]
}

/** A warning for each name that resembles a variable, or has the prefix `SLUICE_`, which no variable has. */
function misspeltWarnings(names: readonly string[]): string[] {
  const known = Object.keys(VARIABLES)
  const accepted = new Set([...known, ...ALIASES.map(({ formerly }) => formerly)])
  return names
    .filter((name) => !accepted.has(name))
    .flatMap((name) => {
      const hasPrefix = name.startsWith(PREFIX)
      const meant = nearestName(hasPrefix ? name.slice(PREFIX.length) : name, [...accepted], hasPrefix)
      if (meant === undefined && !hasPrefix) return []
      const current = ALIASES.find(({ formerly }) => formerly === meant)?.name ?? meant
      return [`${name} is not a setting.${current === undefined ? '' : ` Did you mean ${current}?`}`]
    })
}

/** The variable at most two edits away. Short names count only when they are surely ours. */
function nearestName(name: string, candidates: readonly string[], isSurelyOurs: boolean): string | undefined {
  if (name.length < MIN_LENGTH && !isSurelyOurs) return undefined
  return candidates
    .filter(({ length }) => length >= MIN_LENGTH || isSurelyOurs)
    .map((candidate) => ({ candidate, edits: leven(name.toUpperCase(), candidate) }))
    .filter(({ candidate, edits }) => edits <= MAX_EDITS && edits * 2 < candidate.length)
    .sort((a, b) => a.edits - b.edits)[0]?.candidate
}
