import { z } from 'zod'
import { readJsonFile } from './json-file.ts'

// Characters that need no encoding in a URL or a message.
const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error: 'expected 1 to 64 letters, digits, ".", "_" and "-", the first of them a letter or digit',
})
const presetsFile = z.record(name, z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])))

/** Presets by name: values by parameter. */
export type PresetsFile = z.infer<typeof presetsFile>

/**
 * Reads `presets.json`; a missing file has no presets.
 *
 * @throws Error with the file's name and the invalid keys
 */
export function loadPresets(file: string): Promise<PresetsFile> {
  return readJsonFile(file, presetsFile)
}
