import { z } from 'zod'
import {
  annotated,
  checkTags,
  METADATA_JSON,
  mergeMetadata,
  TAGS_JSON,
} from '../../core/files/annotations.ts'
import { cleanFileName, NAME_MAX_BYTES } from '../../core/files/file-name.ts'
import { checkFocalPoint, FOCAL_POINT_JSON } from '../../core/geometry/focal-point.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import { badParameter } from '../../core/problem.ts'
import { bodyOf } from '../endpoint/named.ts'

const MEMBERS = 'originalName, tags, metadata, focalPoint'

/** A change of a file's record. The values are validated by the functions of `core/files/annotations.ts`. */
export const fileChange = bodyOf(
  'FileChange',
  {
    originalName: z
      .unknown()
      .meta({ type: 'string', minLength: 1, maxLength: NAME_MAX_BYTES })
      .describe('Name of the file, without folders.')
      .optional(),
    tags: z
      .unknown()
      .meta({ ...TAGS_JSON, type: ['array', 'null'] })
      .describe('All tags of the file. `null` removes them.')
      .optional(),
    metadata: z
      .unknown()
      .meta({
        ...METADATA_JSON,
        type: ['object', 'null'],
        additionalProperties: { type: ['string', 'null'] },
      })
      .describe('Metadata to change. `null` as a value removes the name, `null` as a whole removes all.')
      .optional(),
    focalPoint: z
      .unknown()
      .meta({ ...FOCAL_POINT_JSON, type: ['object', 'null'] })
      .describe('Default focus of crops, as a whole: x and y, each from 0 to 1. `null` removes it.')
      .optional(),
  },
  { error: ({ code }) => (code === 'unrecognized_keys' ? `only ${MEMBERS}` : `an object of ${MEMBERS}`) },
)

/**
 * Checks the values of a merge patch of a file's record. Returns the function that applies it.
 *
 * @see RFC 7396
 * @throws Problem 400
 */
export function readFileChange({
  originalName,
  tags,
  metadata,
  focalPoint,
}: z.output<typeof fileChange>): (record: OriginalRecord) => OriginalRecord {
  const name = originalName === undefined ? undefined : checkedName(originalName)
  const newTags = tags === undefined ? undefined : checkTags(tags ?? [])
  const point = focalPoint === undefined || focalPoint === null ? undefined : checkFocalPoint(focalPoint)
  // Validate it against empty metadata, so that the result does not depend on the current record.
  if (metadata !== undefined) mergeMetadata({}, metadata)
  return (record) => ({
    ...annotated(record, {
      tags: newTags ?? record.tags ?? [],
      metadata:
        metadata === undefined ? (record.metadata ?? {}) : mergeMetadata(record.metadata ?? {}, metadata),
      focalPoint: focalPoint === undefined ? record.focalPoint : point,
    }),
    ...(name === undefined ? {} : { originalName: name }),
  })
}

function checkedName(received: unknown): string {
  if (typeof received === 'string' && received !== '' && cleanFileName(received) === received) return received
  const expected = 'a file name of 1 to 255 bytes without a folder'
  throw badParameter({ param: 'originalName', expected, received })
}
