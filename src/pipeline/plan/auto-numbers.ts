import type { Preference, Preferences } from '../../core/media/preferences.ts'
import { AUTO, type ParameterSpec, type ParameterValue } from '../../core/plugin-api/parameter.ts'
import type { Known } from './known-parameters.ts'

type Values = ReadonlyMap<string, ParameterValue>
type NumberSpec = Extract<ParameterSpec, { type: 'integer' | 'number' }>

/** Reads a preference of the request. The plan then depends on it. */
export type Preferred = <P extends Preference>(name: P) => Preferences[P]

// For browsers without client hints. Text columns are narrower, and most screens are not wider.
const DEFAULT_WIDTH = 1600
// Less than the limit of an output, `SIDE_MAX`, since sides are rounded.
const MAX_SIDE = 4900

/**
 * Replaces each value `auto` by a number that fits the request. So the derivative has the name that it has for a request
 * of this number.
 */
export function withoutAuto(requested: Values, known: Known, preferred: Preferred): Values {
  const automatic = [...requested].flatMap(([name, value]) => {
    const spec = value === AUTO ? numberSpec(known, name) : undefined
    return spec?.auto ? [{ name, auto: spec.auto, max: spec.max }] : []
  })
  if (automatic.length === 0) return requested
  const values = new Map(requested)
  // The width is divided by the ratio, so it is the last one.
  for (const { name, auto, max } of automatic.sort((one, other) => one.auto.localeCompare(other.auto)))
    values.set(name, Math.min(max, auto === 'dpr' ? dprFor(values, preferred) : widthFor(values, preferred)))
  return values
}

/** At most the ratio with which the requested sides are still within the limit. */
function dprFor(values: Values, preferred: Preferred): number {
  const [w, h] = ['w', 'h'].map((name) => numberOf(values.get(name)) ?? 0)
  const { tall, wide } = shapeOf(values)
  const longest = Math.max(1, (w ?? 0) * tall, (h ?? 0) * wide)
  return Math.min(preferred('dpr') ?? 1, Math.max(1, Math.floor((2 * MAX_SIDE) / longest) / 2))
}

/** In CSS pixels: the output has the preferred width in device pixels. */
function widthFor(values: Values, preferred: Preferred): number {
  const dpr = numberOf(values.get('dpr')) ?? 1
  const width = Math.min(preferred('width') ?? DEFAULT_WIDTH, MAX_SIDE / shapeOf(values).tall)
  return Math.max(1, Math.ceil(width / dpr))
}

/** By what a side is multiplied for the longest side, when the aspect ratio sets the other side. */
function shapeOf(values: Values): { tall: number; wide: number } {
  const ar = values.get('ar')
  const [across = 1, down = 1] = typeof ar === 'object' ? ar : []
  return { tall: Math.max(1, down / across), wide: Math.max(1, across / down) }
}

function numberOf(value: ParameterValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function numberSpec({ words }: Known, name: string): NumberSpec | undefined {
  const spec = words.get(name)?.spec
  return spec?.type === 'integer' || spec?.type === 'number' ? spec : undefined
}
