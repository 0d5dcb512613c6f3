import type { NewPreset, Preset, PresetList } from '../generated/api.ts'
import { type Api, type CallOptions, encodedPath } from '../http/request.ts'

/** The presets of a client. All calls reject with a {@link SluiceError}. */
export interface Presets {
  /** The presets that the client may use in delivery URLs, sorted by name. */
  list(options?: CallOptions): Promise<Preset[]>
  /** Adds a preset of the client, or replaces the one of this name. */
  save(name: string, preset: NewPreset, options?: CallOptions): Promise<Preset>
  /** Deletes a preset of the client. */
  remove(name: string, options?: CallOptions): Promise<void>
}

/** Creates the calls for presets. */
export function createPresets(api: Api): Presets {
  const path = (name: string) => `/v1/presets/${encodedPath(name)}`
  return {
    list: async ({ signal } = {}) => (await api.json<PresetList>({ path: '/v1/presets', signal })).presets,
    save: (name, preset, { signal } = {}) =>
      api.json({ method: 'PUT', path: path(name), json: preset, isIdempotent: true, signal }),
    remove: async (name, { signal } = {}) =>
      void (await api.send({ method: 'DELETE', path: path(name), signal })),
  }
}
