import type { MediaGroup } from '../../core/media/groups.ts'
import type { DescribedParameters } from '../../core/plugin-api/describe-parameters.ts'
import { DOWNLOAD_WORD, PRESET_WORD } from '../../core/plugin-api/query-names.ts'
import { EXPIRY_WORD, SIGNATURE_WORD } from '../../core/signing/signed-url.ts'
import type { Parameter } from '../documents/endpoint.ts'
import { query } from '../documents/parameters.ts'
import { pluginParameter } from '../documents/plugin-parameters.ts'
import { CONDITIONS } from './responses.ts'
import { WAIT } from './wait.ts'

/** The signature of a URL. */
export const SIGNATURE = [
  query(SIGNATURE_WORD, 'Signature of a signed URL.'),
  query(EXPIRY_WORD, 'Expiry of a signed URL, in seconds since 1970.', { type: 'integer', minimum: 0 }),
]
/** The name of a download. */
export const DOWNLOAD = query(DOWNLOAD_WORD, 'Browsers save the file, under this name if it is not empty.')
const PRESET = query(PRESET_WORD, 'A preset: a name for a set of parameters.')

/** The parameters of the delivery URL of an image that is not a stored file. @param parameters those of the loaded plugins */
export function pictureParameters({ image }: DescribedParameters): readonly Parameter[] {
  return [...image.map(pluginParameter), DOWNLOAD, PRESET, ...SIGNATURE, ...CONDITIONS]
}

/** The parameters of the delivery URL of a stored file of this type. @param parameters those of the loaded plugins */
export function deliveryParameters(group: MediaGroup, parameters: DescribedParameters): readonly Parameter[] {
  return [
    ...parameters[group].map(pluginParameter),
    ...(group === 'text' ? parameters.application.map(pluginParameter) : []),
    // For documents, whose pages are drawn.
    ...(group === 'text' || group === 'application' ? parameters.image.map(pluginParameter) : []),
    ...[DOWNLOAD, PRESET, WAIT],
    ...SIGNATURE,
    ...CONDITIONS,
  ]
}
