import type { Client } from '../../core/clients/client.ts'
import { MEDIA_GROUPS, type MediaGroup } from '../../core/media/groups.ts'
import type { ParameterValue } from '../../core/plugin-api/parameter.ts'
import type { LoadedPlugin } from '../../pipeline/load/load.ts'
import { readPresets } from '../../pipeline/plan/presets.ts'
import type { Presets } from '../../pipeline/plan/query.ts'

/** A preset that a client may use. */
export interface UsablePreset {
  name: string
  /** The file types that it applies to. */
  types: MediaGroup[]
  /** By canonical name. */
  parameters: Record<string, ParameterValue>
  /** `client` for a preset of the client itself, `shared` for one of `config/presets.json`. */
  from: 'client' | 'shared'
}

/** Lists the presets that a client may use, sorted by name. A client's own preset replaces a shared one for its file types. */
export type ListPresets = (client: Client) => UsablePreset[]

export function createListPresets({
  shared,
  transforms,
}: {
  shared: Presets
  transforms: readonly LoadedPlugin[]
}): ListPresets {
  return ({ rules = {} }) => {
    const own = readPresets(rules.presets ?? {}, transforms).presets
    const all = new Map<string, UsablePreset>()
    for (const group of MEDIA_GROUPS)
      for (const [from, presets] of [
        ['client', own.get(group)],
        ['shared', shared.get(group)],
      ] as const)
        for (const [name, parameters] of presets ?? []) {
          if (from === 'shared' && own.get(group)?.has(name)) continue
          const known = all.get(`${name} ${from}`)
          if (known) known.types.push(group)
          else
            all.set(`${name} ${from}`, {
              name,
              types: [group],
              parameters: Object.fromEntries(parameters),
              from,
            })
        }
    return [...all].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, preset]) => preset)
  }
}
