import type { DetectorPlugin, EventPlugin, TransformPlugin } from '../core/plugin.ts'

/** What has been loaded and found to be in order. */
interface Checked {
  plugins: {
    /** In the order in which they run. */
    transforms: ReadonlyArray<{ plugin: TransformPlugin }>
    events: ReadonlyArray<{ plugin: EventPlugin }>
    detector?: { plugin: DetectorPlugin } | undefined
  }
  chain: { disabled: readonly string[] }
}

/** What `--check` prints when all is well: the plugins in the order in which they run, with their parameters. */
export function checkReport({ plugins, chain }: Checked): string {
  const rows: Array<[name: string, what: string]> = [
    ...plugins.transforms.map(({ plugin }): [string, string] => [plugin.name, transformRow(plugin)]),
    ...plugins.events.map(({ plugin: { name, on } }): [string, string] => [
      name,
      `on ${Object.keys(on).join(', ')}`,
    ]),
    ...(plugins.detector ? [[plugins.detector.plugin.name, 'detects'] as [string, string]] : []),
    ...chain.disabled.map((name): [string, string] => [name, 'disabled']),
  ]
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  const lines = rows.map(([name, what]) => `  ${name.padEnd(width)}   ${what}`)
  return `configuration and plugins are in order:\n\n${lines.join('\n')}\n`
}

/** `always; f (format), q (quality)` */
function transformRow({ always, params }: TransformPlugin): string {
  const names = Object.entries(params).map(([name, { aliases = [] }]) =>
    aliases.length > 0 ? `${name} (${aliases.join(', ')})` : name,
  )
  return [always ? 'always' : '', names.join(', ')].filter(Boolean).join('; ')
}
