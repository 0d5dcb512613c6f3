import type { Client } from '../../core/clients/client.ts'
import { MEDIA_GROUPS, type MediaGroup } from '../../core/media/groups.ts'
import type { ParameterValue } from '../../core/plugin-api/parameter.ts'
import { Problem } from '../../core/problem.ts'
import type { LoadedPlugin } from '../../pipeline/load/load.ts'
import { readPresets } from '../../pipeline/plan/presets.ts'
import type { Presets } from '../../pipeline/plan/query.ts'
import type { NewPreset, SavedPresets } from './saved-presets.ts'

/** A preset that a client may use. */
export interface UsablePreset {
  name: string
  /** The file types that it applies to. */
  types: MediaGroup[]
  /** By canonical name. */
  parameters: Record<string, ParameterValue>
  /** `client` for a preset of the client itself, `shared` for one of `config/presets.json`. */
  from: 'client' | 'shared'
  description?: string
}

/** The presets that clients may use, and changes of their own ones. */
export interface ClientPresets {
  /** Sorted by name. A client's own preset replaces a shared one for its file types. */
  list(client: Client): UsablePreset[]
  /**
   * Adds an own preset of the client, or replaces it. From then on, deliveries use it; those of other processes after seconds.
   * @throws Problem 400 for an invalid preset, 409 for the name of a shared preset, 503
   */
  save(client: Client, preset: NewPreset): Promise<UsablePreset>
  /** @throws Problem 404 when there is no such preset, 409 for a shared preset, 503 */
  remove(client: Client, name: string): Promise<void>
}

export function createClientPresets({
  shared,
  transforms,
  clients,
}: {
  shared: Presets
  transforms: readonly LoadedPlugin[]
  clients: SavedPresets
}): ClientPresets {
  const list: ClientPresets['list'] = ({ rules = {}, presetDescriptions = {} }) => {
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
              ...(from === 'client' && Object.hasOwn(presetDescriptions, name)
                ? { description: presetDescriptions[name] as string }
                : {}),
            })
        }
    return [...all].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, preset]) => preset)
  }

  /** @throws Problem 409 for a name that only a shared preset has */
  function checkOwn({ rules }: Client, name: string): void {
    if (rules?.presets && Object.hasOwn(rules.presets, name)) return
    if (![...shared.values()].some((ofGroup) => ofGroup.has(name))) return
    throw new Problem({
      status: 409,
      code: 'preset_is_shared',
      detail: `The preset ${JSON.stringify(name)} is in config/presets.json, which clients cannot change. Choose another name.`,
    })
  }

  return {
    list,
    async save(client, preset) {
      checkOwn(client, preset.name)
      const changed = await clients.savePreset(client.id, preset)
      const saved = list(changed).find(({ name, from }) => name === preset.name && from === 'client')
      if (!saved) throw new Error(`the preset ${preset.name} was saved but is not usable`)
      return saved
    },
    async remove(client, name) {
      checkOwn(client, name)
      await clients.removePreset(client.id, name)
    },
  }
}
