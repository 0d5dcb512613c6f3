import { MEDIA_GROUPS, type MediaGroup } from '../../../core/media/groups.ts'
import type { DescribedParameters } from '../../../core/plugin-api/describe-parameters.ts'
import type { Endpoint, Parameter } from '../endpoint.ts'
import { EXAMPLE, fileExamples } from '../examples.ts'
import { pluginParameter } from '../plugin-parameters.ts'
import { COMMON, DOWNLOAD, NOUNS, SIGNATURE, wordOf } from './delivery.ts'
import { CONDITIONS, SENT } from './sent.ts'

/** Delivery of objects that other systems have written into the bucket. */
export function foreignEndpoints({ image }: DescribedParameters): Endpoint[] {
  const transformed = [...image.map(pluginParameter), ...COMMON]
  return MEDIA_GROUPS.map((group) => delivered(group, group === 'image' ? transformed : [DOWNLOAD]))
}

function delivered(group: MediaGroup, parameters: readonly Parameter[]): Endpoint {
  return {
    route: 'GET /v1/:group/foreign/:token/*path',
    path: `/v1/${group}/foreign/{token}/{path}`,
    id: `getForeign${wordOf(group)}`,
    tag: 'Delivery',
    summary: `Deliver ${NOUNS[group]} that another system has written into the bucket`,
    access: 'signature',
    parameters: [...parameters, ...SIGNATURE, ...CONDITIONS],
    responses: SENT,
    examples: fileExamples({ path: EXAMPLE.foreignPath }),
  }
}
