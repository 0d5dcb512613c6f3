import type { Client } from '../../core/clients/client.ts'
import { type OnePreset, withPreset } from '../../core/clients/rules/presets.ts'
import type { PresetSettings, RuleBounds } from '../../core/clients/rules/rule.ts'
import { Problem } from '../../core/problem.ts'
import type { ChangeKnown } from './change-existing.ts'

/** A preset to save, with a text for people. */
export interface NewPreset extends OnePreset {
  description?: string | undefined
}

/** Changes of single presets of a client. Simultaneous changes of different presets are all applied. */
export interface SavedPresets {
  /** Adds a preset, or replaces the one of this name. @throws Problem 400 for an invalid one; 404, 409, 503 */
  savePreset(clientId: string, preset: NewPreset): Promise<Client>
  /** @throws Problem 404 when the client has no preset of this name; 409, 503 */
  removePreset(clientId: string, name: string): Promise<Client>
}

export function createSavedPresets({
  changeKnown,
  bounds,
}: {
  changeKnown: ChangeKnown
  bounds: Pick<RuleBounds, 'wrongPresets'>
}): SavedPresets {
  return {
    savePreset: (clientId, preset) =>
      changeKnown(clientId, (client) => {
        const { name, description } = preset
        const presets = withPreset(client.rules?.presets ?? {}, preset, bounds)
        return withPresets(client, presets, { ...client.presetDescriptions, [name]: description })
      }),
    removePreset: (clientId, name) =>
      changeKnown(clientId, (client) => {
        const presets = client.rules?.presets ?? {}
        if (!Object.hasOwn(presets, name)) throw noSuchPreset(name)
        const { [name]: _, ...others } = presets
        return withPresets(client, others, client.presetDescriptions ?? {})
      }),
  }
}

/** Descriptions without a preset are removed. */
function withPresets(
  { rules, presetDescriptions: _, ...client }: Client,
  presets: PresetSettings,
  descriptions: Readonly<Record<string, string | undefined>>,
): Client {
  const { presets: __, ...others } = rules ?? {}
  const changed = Object.keys(presets).length > 0 ? { ...others, presets } : others
  const described = Object.entries(descriptions).flatMap(([name, text]) =>
    text && Object.hasOwn(presets, name) ? [[name, text] as const] : [],
  )
  return {
    ...client,
    ...(Object.keys(changed).length > 0 ? { rules: changed } : {}),
    ...(described.length > 0 ? { presetDescriptions: Object.fromEntries(described) } : {}),
  }
}

function noSuchPreset(name: string): Problem {
  return new Problem({
    status: 404,
    code: 'preset_not_found',
    detail: `The client has no preset ${JSON.stringify(name)}.`,
  })
}
