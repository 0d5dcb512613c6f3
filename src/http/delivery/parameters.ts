import type { MediaGroup } from '../../core/media/groups.ts'
import type { DescribedParameters } from '../../core/plugin-api/describe-parameters.ts'
import type { Parameter } from '../documents/endpoint.ts'
import { query } from '../documents/parameters.ts'
import { pluginParameter } from '../documents/plugin-parameters.ts'
import { CONDITIONS } from './responses.ts'

/** The signature of a URL. */
export const SIGNATURE = [
  query('s', 'Signature of a signed URL.'),
  query('exp', 'Expiry of a signed URL, in seconds since 1970.', { type: 'integer', minimum: 0 }),
]
/** The name of a download. */
export const DOWNLOAD = query('download', 'Browsers save the file, under this name if it is not empty.')
/** The parameters of all types of files. */
export const OF_ALL_TYPES = [
  DOWNLOAD,
  query('preset', 'A preset: a name for a set of parameters.'),
  query('wait', 'Waits for a media job, in seconds.', { type: 'integer', minimum: 1, maximum: 30 }),
]

/** The parameters of a delivery URL for this type of file. @param parameters those of the loaded plugins */
export function deliveryParameters(group: MediaGroup, parameters: DescribedParameters): readonly Parameter[] {
  return [
    ...parameters[group].map(pluginParameter),
    ...(group === 'text' ? parameters.application.map(pluginParameter) : []),
    // For documents, whose pages are drawn.
    ...(group === 'text' || group === 'application' ? parameters.image.map(pluginParameter) : []),
    ...OF_ALL_TYPES,
    ...SIGNATURE,
    ...CONDITIONS,
  ]
}
