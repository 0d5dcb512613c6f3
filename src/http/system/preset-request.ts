import { z } from 'zod'
import { PRESET_DESCRIPTION_MAX_LENGTH } from '../../core/clients/rules/presets.ts'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { parseTarget } from '../../core/net/query.ts'
import { badParameter } from '../../core/problem.ts'
import { listed } from '../../core/text/listed.ts'
import type { NewPreset } from '../../service/clients/saved-presets.ts'
import { checkedBody } from '../body/parse.ts'
import { limitedPairs, namedPairs } from '../request.ts'

/** A preset to save. */
export const newPreset = z.strictObject(
  {
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
  },
  'an object of group, parameters and description',
)

/** Validates the form of a preset, but not its parameters. @throws Problem 400 */
export function readNewPreset(name: string, body: unknown): NewPreset {
  const { group, parameters: text, description } = checkedBody(newPreset, body)
  const pairs = limitedPairs(namedPairs(parseTarget(`?${text}`).pairs))
  const parameters = Object.fromEntries(pairs)
  if (Object.keys(parameters).length < pairs.length)
    throw badParameter({ param: 'parameters', expected: 'each parameter once', received: text })
  return { name, group, parameters, description }
}
