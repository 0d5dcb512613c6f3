import type { MediaGroup } from '../../../core/media/groups.ts'
import type { Endpoint } from '../endpoint.ts'
import { EXAMPLE, fileExamples } from '../examples.ts'
import { ALIAS_NAME } from '../parameters.ts'

/**
 * The delivery of the file of an alias.
 *
 * @param common.name the type as a word of the `operationId`: `Image`
 * @param common.noun the type in a sentence: `an image`
 */
export function aliasDelivery(
  group: MediaGroup,
  {
    parameters = [],
    responses,
    name,
    noun,
  }: Pick<Endpoint, 'parameters' | 'responses'> & { name: string; noun: string },
): Endpoint {
  return {
    route: 'GET /v1/:group/alias/:token/*path',
    path: `/v1/${group}/alias/{token}/{path}`,
    id: `get${name}ByAlias`,
    tag: 'Delivery',
    summary: `Deliver ${noun} by the name of an alias, transformed by the parameters`,
    access: 'signature',
    parameters: [ALIAS_NAME, ...parameters],
    responses,
    examples: group === 'image' ? EXAMPLES : fileExamples({ path: EXAMPLE.alias }),
  }
}

const EXAMPLES = [
  {
    id: 'small',
    summary: '300 px wide, as WebP',
    parameters: { token: EXAMPLE.token, path: EXAMPLE.alias, w: '300', f: 'webp' },
    status: 200,
  },
]
