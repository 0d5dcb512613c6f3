import { z } from 'zod'
import { PRESET_DESCRIPTION_MAX_LENGTH } from '../../core/clients/rules/presets.ts'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { parseTarget } from '../../core/net/query.ts'
import { badParameter } from '../../core/problem.ts'
import { listed } from '../../core/text/listed.ts'
import type { ClientPresets } from '../../service/clients/presets.ts'
import type { Parameter } from '../documents/endpoint.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { bodyOf, replyOf } from '../endpoint/named.ts'
import { limitedPairs, namedPairs } from '../request.ts'

/** The services that handle these requests. */
export interface Services {
  presets: ClientPresets
}

const preset = replyOf('Preset', 'A preset.', {
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
const presetList = replyOf('PresetList', 'The presets of a client.', { presets: z.array(preset) })
const newPreset = bodyOf('NewPreset', {
  group: z
    .enum(MEDIA_GROUPS, `one of ${listed(MEDIA_GROUPS)}`)
    .describe(
      'Type of the files that the parameters are for. The preset also applies to other types that accept all of them.',
    ),
  parameters: z
    .string('a query string like "w=300&f=webp"')
    .describe('The parameters, as in a delivery URL: `w=300&f=webp`.'),
  description: z
    .string('a string')
    .max(PRESET_DESCRIPTION_MAX_LENGTH, `a string of at most ${PRESET_DESCRIPTION_MAX_LENGTH} characters`)
    .describe('Text for people.')
    .optional(),
})
const PRESET_NAME: Parameter = {
  in: 'path',
  name: 'name',
  description: 'Name of the preset: 1 to 64 letters, digits, `.`, `_` and `-`.',
  schema: { type: 'string' },
  required: true,
}

const listPresets = endpoint({
  route: 'GET /v1/presets',
  id: 'listPresets',
  tag: 'Service',
  summary: 'List the presets that the client may use',
  access: { secret: 'read' },
  query: {},
  responses: { 200: json(presetList, 'The presets, sorted by name.') },
  examples: [{ id: 'all', summary: 'All presets', status: 200 }],

  handle({ presets }: Services, { caller: { client } }) {
    const body: z.input<typeof presetList> = { presets: presets.list(client) }
    return { json: body }
  },
})

const savePreset = endpoint({
  route: 'PUT /v1/presets/:name',
  id: 'savePreset',
  tag: 'Service',
  summary: 'Save a preset of the client',
  description:
    'Adds the preset, or replaces the one of this name. Presets of `config/presets.json` cannot be changed.',
  access: { secret: 'manage', everywhere: true },
  parameters: [PRESET_NAME],
  body: newPreset,
  // 20 parameters with values of the maximum length.
  bodyMaxBytes: 64 * 1024,
  responses: { 200: json(preset, 'The saved preset.') },
  problems: ['400 bad_presets', '409 client_conflict', '409 preset_is_shared'],
  audit: 'preset.save',
  examples: [
    {
      id: 'card',
      summary: 'Cards, 300 px wide',
      parameters: { name: 'card' },
      body: { group: 'image', parameters: 'w=300&f=webp', description: 'For lists of products' },
      status: 200,
      response: {
        name: 'card',
        types: ['image'],
        parameters: { w: 300, f: 'webp' },
        from: 'client',
        description: 'For lists of products',
      },
    },
    {
      id: 'shared',
      summary: 'A name of a shared preset',
      parameters: { name: 'thumbnail' },
      body: { group: 'image', parameters: 'w=300' },
      status: 409,
    },
  ],

  async handle({ presets }: Services, { caller: { client }, params: { name = '' }, body }) {
    const { group, parameters: text, description } = body
    const pairs = limitedPairs(namedPairs(parseTarget(`?${text}`).pairs))
    const parameters = Object.fromEntries(pairs)
    if (Object.keys(parameters).length < pairs.length)
      throw badParameter({ param: 'parameters', expected: 'each parameter once', received: text })
    const saved: z.input<typeof preset> = await presets.save(client, { name, group, parameters, description })
    return { json: saved }
  },
})

const deletePreset = endpoint({
  route: 'DELETE /v1/presets/:name',
  id: 'deletePreset',
  tag: 'Service',
  summary: 'Delete a preset of the client',
  description: 'Stored derivatives remain. URLs with this preset return 400 from then on.',
  access: { secret: 'manage', everywhere: true },
  parameters: [PRESET_NAME],
  responses: { 204: { description: 'The preset does not exist any more.' } },
  problems: ['404 preset_not_found', '409 client_conflict', '409 preset_is_shared'],
  audit: 'preset.delete',
  examples: [
    { id: 'none', summary: 'A preset that does not exist', parameters: { name: 'card' }, status: 404 },
  ],

  async handle({ presets }: Services, { caller: { client }, params: { name = '' } }) {
    await presets.remove(client, name)
    return {}
  },
})

/** The presets that a client may use: its own and shared ones. */
export const PRESETS = [listPresets, savePreset, deletePreset]
