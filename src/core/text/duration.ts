const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The format that {@link parseDuration} accepts, for messages. */
const DURATION = 'an integer and s, m, h or d (0s, 90m, 24h, 7d), at most 365d'

/** `90m` in milliseconds; undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const ms = Number(number) * UNITS_MS[unit as keyof typeof UNITS_MS]
  return ms <= 365 * UNITS_MS.d ? ms : undefined
}

/** `90m` in milliseconds. @throws Error for any other text */
export function readDuration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new Error(`expected ${DURATION} but received "${text}"`)
  return ms
}

/** Formats a duration as {@link parseDuration} reads it, in the largest unit that divides it: `90m`. @param ms whole seconds */
export function shownDuration(ms: number): string {
  const units = Object.entries(UNITS_MS)
  const [unit, unitMs] = units.findLast(([, each]) => ms % each === 0) ?? ['s', UNITS_MS.s]
  return `${ms / unitMs}${unit}`
}
