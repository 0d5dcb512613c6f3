import type { DetectorPlugin } from '../../core/plugin-api/detector.ts'
import type { EventPlugin } from '../../core/plugin-api/event-plugin.ts'
import { canonicalValue, type ParameterValue } from '../../core/plugin-api/parameter.ts'
import type { TransformPlugin } from '../../core/plugin-api/plugin.ts'

/** The parts that were loaded and checked. */
interface Checked {
  plugins: {
    /** In the order in which they run. */
    transforms: ReadonlyArray<{ plugin: TransformPlugin }>
    events: ReadonlyArray<{ plugin: EventPlugin }>
    detector?: { plugin: DetectorPlugin } | undefined
  }
  chain: { disabled: readonly string[] }
  /** The parameters of each preset, by its name and its group of files. */
  presets: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, ParameterValue>>>
}

/**
 * The output of a successful `--check`: the plugins in the order in which they run, with their parameters, and the presets.
 */
export function checkReport({ plugins, chain, presets }: Checked): string {
  const rows: Array<[name: string, what: string]> = [
    ...plugins.transforms.map(({ plugin }): [string, string] => [plugin.name, transformRow(plugin)]),
    ...plugins.events.map(({ plugin: { name, on } }): [string, string] => [
      name,
      `on ${Object.keys(on).join(', ')}`,
    ]),
    ...(plugins.detector ? [[plugins.detector.plugin.name, 'detects'] as [string, string]] : []),
    ...chain.disabled.map((name): [string, string] => [name, 'disabled']),
    ...presetRows(presets),
  ]
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  const lines = rows.map(([name, what]) => `  ${name.padEnd(width)}   ${what}`)
  return `configuration, plugins and presets are in order:\n\n${lines.join('\n')}\n`
}

/** Rows such as `preset=thumbnail`, `w=200&h=200&f=auto (image)`. One row per group, since the values may differ. */
function presetRows(presets: Checked['presets']): Array<[name: string, what: string]> {
  return [...presets].flatMap(([group, all]) =>
    [...all].map(([name, values]): [string, string] => {
      const query = [...values].map(([parameter, value]) => `${parameter}=${canonicalValue(value)}`)
      return [`preset=${name}`, `${query.join('&')} (${group})`]
    }),
  )
}

/** Text such as `always; f (format), q (quality)`. */
function transformRow({ always, params }: TransformPlugin): string {
  const names = Object.entries(params).map(([name, { aliases = [] }]) =>
    aliases.length > 0 ? `${name} (${aliases.join(', ')})` : name,
  )
  return [always ? 'always' : '', names.join(', ')].filter(Boolean).join('; ')
}
