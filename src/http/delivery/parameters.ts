import type { MediaGroup } from '../../core/media/groups.ts'
import type { DescribedParameters } from '../../core/plugin-api/describe-parameters.ts'
import { type ParameterSpec, parseParameter } from '../../core/plugin-api/parameter.ts'
import { DOWNLOAD_WORD, PRESET_WORD, WAIT_WORD } from '../../core/plugin-api/query-names.ts'
import { EXPIRY_WORD, SIGNATURE_WORD } from '../../core/signing/signed-url.ts'
import type { Parameter } from '../documents/endpoint.ts'
import { query } from '../documents/parameters.ts'
import { pluginParameter, schemaOf } from '../documents/plugin-parameters.ts'
import { CONDITIONS } from './responses.ts'

/** The signature of a URL. */
export const SIGNATURE = [
  query(SIGNATURE_WORD, 'Signature of a signed URL.'),
  query(EXPIRY_WORD, 'Expiry of a signed URL, in seconds since 1970.', { type: 'integer', minimum: 0 }),
]
/** The name of a download. */
export const DOWNLOAD = query(DOWNLOAD_WORD, 'Browsers save the file, under this name if it is not empty.')
const PRESET = query(PRESET_WORD, 'A preset: a name for a set of parameters.')

// Half of the usual timeout of proxies.
const WAIT_SPEC: ParameterSpec = {
  type: 'integer',
  min: 1,
  max: 30,
  unit: 'seconds',
  help: 'Maximum time that a request waits for a media job.',
}

const WAIT = query(WAIT_WORD, 'Waits for a media job, in seconds.', schemaOf(WAIT_SPEC))

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

/** Reads `wait`. @returns seconds; 0 without it @throws Problem 400 */
export function waitSeconds(received: string | undefined): number {
  return received === undefined ? 0 : Number(parseParameter(WAIT_WORD, WAIT_SPEC, received))
}
