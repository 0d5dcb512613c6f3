import { z } from 'zod'
import { PRESET_NAME } from '../src/core/clients/rules/presets.ts'
import { readJsonFile } from './json-file.ts'

const name = z.string().regex(PRESET_NAME, {
  error: 'expected 1 to 64 letters, digits, ".", "_" and "-", starting with a letter or digit',
})
const presetsFile = z.record(name, z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])))

/** Values by parameter, by the name of the preset. */
export type PresetsFile = z.infer<typeof presetsFile>

/**
 * Reads `presets.json`. A missing file has no presets.
 *
 * @throws Error with the name of the file and every invalid key
 */
export function loadPresets(file: string): Promise<PresetsFile> {
  return readJsonFile(file, presetsFile)
}
