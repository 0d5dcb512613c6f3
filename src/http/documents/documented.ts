import { MEDIA_GROUPS, type MediaGroup } from '../../core/media/groups.ts'
import type { DescribedParameters } from '../../core/plugin-api/describe-parameters.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { templateOf } from '../endpoint/route.ts'
import { ENDPOINTS } from '../endpoints.ts'
import type { DocumentedEndpoint } from './endpoint.ts'

const NOUNS: Readonly<Record<MediaGroup, string>> = {
  image: 'an image',
  video: 'a video',
  audio: 'an audio file',
  text: 'a text file',
  application: 'a file of another type',
}

/** All endpoints of the API document. @param parameters of delivery URLs, with those of the loaded plugins */
export function documentedEndpoints(parameters: DescribedParameters): readonly DocumentedEndpoint[] {
  return ENDPOINTS.flatMap((endpoint: ServedEndpoint<never>) => {
    const { byGroup } = endpoint
    return byGroup
      ? MEDIA_GROUPS.flatMap((group) => ofGroup(endpoint, group, byGroup(group, parameters)))
      : endpoint
  })
}

function ofGroup(
  endpoint: DocumentedEndpoint,
  group: MediaGroup,
  differing: Partial<DocumentedEndpoint> | undefined,
): DocumentedEndpoint[] {
  if (!differing) return []
  const { route, id, summary } = endpoint
  return [
    {
      ...endpoint,
      path: templateOf(route).replace('{group}', group),
      id: id.replace('{Group}', `${group[0]?.toUpperCase()}${group.slice(1)}`),
      summary: summary.replace('{file}', NOUNS[group]),
      ...differing,
    },
  ]
}
