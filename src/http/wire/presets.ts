import { z } from 'zod'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'

/** A preset that a client may use in delivery URLs. */
export const preset = z
  .object({
    name: z.string().describe('Value of the parameter `preset`.'),
    types: z.array(z.enum(MEDIA_GROUPS)).describe('Types of the files that it applies to.'),
    parameters: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.number()).readonly()]))
      .describe('Its parameters, by canonical name.'),
    from: z
      .enum(['client', 'shared'])
      .describe('`client` for a preset of the client itself, `shared` for one of all clients.'),
    description: z.string().describe('Text for people.').optional(),
  })
  .describe('A preset.')

/** All presets that a client may use, sorted by name. */
export const presetList = z.object({ presets: z.array(preset) }).describe('The presets of a client.')

export type Preset = z.input<typeof preset>
export type PresetList = z.input<typeof presetList>
