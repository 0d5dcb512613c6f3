import { z } from 'zod'
import { checkMetadata, checkTags, METADATA_JSON, TAGS_JSON } from '../../core/files/annotations.ts'
import { NAME_MAX_BYTES } from '../../core/files/file-name.ts'
import { checkFocalPoint, FOCAL_POINT_JSON } from '../../core/geometry/focal-point.ts'
import { parseRemoteUrl } from '../../core/net/remote-url.ts'
import { badParameter } from '../../core/problem.ts'
import { bodyOf } from '../endpoint/named.ts'
import { readTransforms, TRANSFORMS_JSON, type UploadOptions } from './form-fields.ts'

const EXPECTED_NAME = `a file name of 1 to ${NAME_MAX_BYTES} bytes`

/** A request to store a file of another server. */
export const remoteUpload = bodyOf('RemoteUpload', {
  url: z.string('a URL').describe('URL of the file.'),
  name: z
    .string(EXPECTED_NAME)
    .min(1, EXPECTED_NAME)
    .max(NAME_MAX_BYTES, EXPECTED_NAME)
    .describe('Name of the file. Default: the name from the other server.')
    .optional(),
  path: z.string('a folder').describe('Folder of the file.').optional(),
  info: z.boolean('true or false').describe('Adds file information to the response.').default(false),
  transforms: z.unknown().meta(TRANSFORMS_JSON).optional(),
  tags: z.unknown().meta(TAGS_JSON).optional(),
  metadata: z.unknown().meta(METADATA_JSON).optional(),
  focalPoint: z.unknown().meta(FOCAL_POINT_JSON).optional(),
})

/** A validated request to store a file of another server. */
export interface RemoteUploadBody {
  url: string
  /** Replaces the name from the remote server. */
  name: string | undefined
  path: string | undefined
  requested: Omit<UploadOptions, 'folder'>
}

/** Checks the values of a request to store a file of another server. @param queryPath the folder in the query @throws Problem 400 */
export function checkedRemoteUpload(
  { url, name, path, info, transforms, tags, metadata, focalPoint }: z.output<typeof remoteUpload>,
  queryPath: string | undefined,
): RemoteUploadBody {
  if (path !== undefined && queryPath !== undefined)
    throw badParameter({ param: 'path', expected: 'one value', received: `${queryPath}, ${path}` })
  return {
    url: parseRemoteUrl(url),
    name,
    path: path ?? queryPath,
    requested: {
      info,
      transforms: transforms === undefined ? undefined : readTransforms(transforms),
      annotations: {
        tags: tags === undefined ? [] : checkTags(tags),
        metadata: metadata === undefined ? {} : checkMetadata(metadata),
        focalPoint: focalPoint === undefined ? undefined : checkFocalPoint(focalPoint),
      },
    },
  }
}
