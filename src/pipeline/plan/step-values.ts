import type { ParameterSpec, ParameterSpecs, ParameterValue } from '../../core/plugin-api/parameter.ts'
import type { LoadedPlugin } from '../load/load.ts'

/** The values of parameters, by their canonical names. */
export type Values = Readonly<Record<string, ParameterValue>>

/**
 * Returns the values that name this step, those that differ from the defaults: equal outputs have one name, whether
 * or not a default was given. A plugin that a parameter started has at least one.
 */
export function naming(
  { plugin }: LoadedPlugin,
  params: Values,
): Array<[string, ParameterValue | undefined]> {
  const all = Object.entries(params)
  if (plugin.entry !== undefined) return all.map(([name, value], i) => [name, i === 0 ? undefined : value])
  const special = all.filter(([name, value]) => value !== defaultOf(plugin.params[name]))
  return special.length > 0 || plugin.always ? special : all.slice(0, 1)
}

/** Whether the request has one of these parameters. */
export function startedBy(specs: ParameterSpecs, requested: ReadonlyMap<string, unknown>): boolean {
  for (const name in specs) if (requested.has(name)) return true
  return false
}

/** The values of these parameters, in the order of the specs. Loops: every delivery calls this. */
export function withDefaults(specs: ParameterSpecs, values: Readonly<Record<string, unknown>>): Values {
  const all: Record<string, ParameterValue> = {}
  for (const name in specs) {
    const value = (Object.hasOwn(values, name) ? values[name] : undefined) ?? defaultOf(specs[name])
    if (value !== undefined) all[name] = value as ParameterValue
  }
  return all
}

function defaultOf(spec: ParameterSpec | undefined): ParameterValue | undefined {
  return spec && 'default' in spec ? spec.default : undefined
}
