import { z } from 'zod'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { replyOf } from '../endpoint/named.ts'

const number = z.number()
const bound = z.union([number, z.array(number)])

/** A parameter of delivery URLs, with its bounds. */
const deliveryParameter = replyOf('DeliveryParameter', 'A parameter of delivery URLs.', {
  plugin: z.string().describe('Name of the plugin.'),
  name: z.string().describe('Name of the parameter.'),
  aliases: z.array(z.string()).describe('Other names of the parameter.'),
  type: z.enum(['integer', 'number', 'enum', 'flag', 'text', 'key', 'list', 'color']),
  help: z.string().describe('Effect of the parameter.'),
  expected: z.string().describe('Accepted values, as error messages name them.'),
  min: bound.describe('Minimum, inclusive; of a list for each number.').optional(),
  max: bound.describe('Maximum, inclusive; of a list for each number.').optional(),
  unit: z.string().optional(),
  default: z.union([z.string(), number]).optional(),
  bare: number.describe('Value when the query has the name alone.').optional(),
  auto: z
    .enum(['dpr', 'width'])
    .optional()
    .describe('What the value `auto` depends on: it becomes a number by the client hints of the request.'),
  values: z.array(z.string()).optional(),
  words: z.array(z.string()).optional().describe('Further values of a flag.'),
  synonyms: z.record(z.string(), z.string()).optional(),
  maxLength: z.int().optional(),
  lines: z.boolean().describe('Whether the text may have line breaks.').optional(),
  group: z.enum(MEDIA_GROUPS).optional(),
  of: z.enum(['integer', 'number']).optional(),
  names: z.array(z.string()).optional(),
  separator: z.enum([',', ':']).optional(),
  atLeast: z.int().optional(),
  groups: z.int().describe('Maximum count of groups of these numbers, separated by ";".').optional(),
})

/** The parameters of delivery URLs, by type. */
export const parameterLists = replyOf(
  'ParameterLists',
  'The parameters of delivery URLs, by the type of the file.',
  {
    image: z.array(deliveryParameter),
    video: z.array(deliveryParameter),
    audio: z.array(deliveryParameter),
    text: z.array(deliveryParameter),
    application: z.array(deliveryParameter),
  },
)
