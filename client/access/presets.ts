import type { Preset, PresetList } from '../generated/api.ts'
import type { Api, CallOptions } from '../http/request.ts'

/** The presets of a client. All calls reject with a {@link SluiceError}. */
export interface Presets {
  /** The presets that the client may use in delivery URLs, sorted by name. */
  list(options?: CallOptions): Promise<Preset[]>
}

/** Creates the calls for presets. */
export function createPresets(api: Api): Presets {
  return {
    list: async ({ signal } = {}) => (await api.json<PresetList>({ path: '/v1/presets', signal })).presets,
  }
}
