import { z } from 'zod'
import { boundedItems } from '../../bounded-schemas.ts'
import { badParameter } from '../../problem.ts'
import { linkMediaTypes, linkTypes } from '../../signing/upload-link.ts'
import type { Rule } from './rule.ts'

// Compared with each uploaded file.
const TYPES_MAX = 50

/** The accepted media groups and names of formats of uploads. */
export const uploadTypesRule: Rule<readonly string[], readonly string[]> = {
  flags: '--upload-types <type,type/*,…|any>',
  help: 'media types of files that may be uploaded, such as image/* or application/pdf',
  docs: {
    example: 'image/*,application/pdf',
    json: '(an array)',
    effect:
      'Uploads of other types are a 415 (`type_not_allowed`). The type is detected from the bytes, not from the name. A signed link may allow fewer types, but not more',
  },
  stored: z.array(z.string()).min(1),
  change: () => boundedItems(z.string()),
  expected: 'an array of media types or null',
  apply(received, { param }) {
    if (received.length < 1 || received.length > TYPES_MAX)
      throw badParameter({ param, expected: `1 to ${TYPES_MAX} media types`, received })
    return [...new Set(linkTypes(received, param))]
  },
  parse: (text) => (text === 'any' ? false : text.split(',')),
  shown: (names) => `uploads of ${linkMediaTypes(names).join(', ')} only`,
}
