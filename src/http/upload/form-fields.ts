import { type Annotations, checkMetadata, checkTags } from '../../core/files/annotations.ts'
import { checkFocalPoint } from '../../core/geometry/focal-point.ts'
import { badParameter } from '../../core/problem.ts'
import { readFlag } from '../request.ts'
import { checkSameFolder, type FolderField } from './folder-fields.ts'
import { FIELD_MAX_BYTES } from './multipart.ts'

/** The options of an upload, from the fields of its form. */
export interface UploadOptions {
  /** Whether the response includes file information for each file. */
  info: boolean
  /** Query strings of derivatives to render in the background. Undefined without such a field. */
  transforms: readonly string[] | undefined
  /** Annotations of all files. */
  annotations: Annotations
  /** The folder of all files, not validated yet. Undefined without such a field. */
  folder: string | undefined
}

/** Reads the text fields of an upload's form as they arrive. */
export interface UploadFields {
  /** Reads a field. An undefined value means that it was too long. Unknown fields are ignored, unless their name is nearly a known one. @throws Problem 400 */
  take(name: string, value: string | undefined): void
  /** The options read so far. */
  requested(): UploadOptions
}

// Names that people confuse with those of fields, or of parameters of the query. Ignoring them would lose what they say.
const NEARLY: Readonly<Record<string, string>> = {
  tag: 'the field tags',
  'tags[]': 'the field tags',
  meta: 'the field metadata',
  metaData: 'the field metadata',
  transform: 'the field transforms',
  'transforms[]': 'the field transforms',
  focalpoint: 'the field focalPoint',
  focal_point: 'the field focalPoint',
}

const TRANSFORMS_MAX = 20
const QUERY_MAX_LENGTH = 2000
const EXPECTED_TRANSFORMS = `a JSON array of at most ${TRANSFORMS_MAX} query strings like ["w=300", "w=600&f=webp"]`

/** `transforms` as a JSON schema. {@link readTransforms} validates it. */
export const TRANSFORMS_JSON = {
  type: 'array',
  items: { type: 'string', maxLength: QUERY_MAX_LENGTH },
  maxItems: TRANSFORMS_MAX,
  description: 'Query strings of derivatives to render in the background, such as `w=300&f=webp`.',
}

/** Creates the reader for one form. */
export function uploadFields(): UploadFields {
  const requested: UploadOptions = {
    info: false,
    transforms: undefined,
    annotations: { tags: [], metadata: {} },
    folder: undefined,
  }
  const seen = new Set<string>()
  let named: FolderField | undefined
  const folder = (param: string) => (value: string) => {
    if (value === '') return
    checkSameFolder({ param, value }, named)
    named = { param, value }
    requested.folder = value
  }
  const readers: Readonly<Record<string, (value: string) => void>> = {
    info(value) {
      requested.info = readFlag(value, 'info')
    },
    transforms(value) {
      // Forms send empty text for a field that was left empty.
      if (value !== '') requested.transforms = readTransforms(jsonOf(value), value)
    },
    tags(value) {
      if (value !== '')
        requested.annotations = { ...requested.annotations, tags: checkTags(jsonOf(value) ?? value) }
    },
    metadata(value) {
      if (value === '') return
      requested.annotations = { ...requested.annotations, metadata: checkMetadata(jsonOf(value) ?? value) }
    },
    path: folder('path'),
    folder: folder('folder'),
    focalPoint(value) {
      if (value === '') return
      requested.annotations = {
        ...requested.annotations,
        focalPoint: checkFocalPoint(jsonOf(value) ?? value),
      }
    },
  }
  return {
    requested: () => requested,
    take(param, value) {
      const read = Object.hasOwn(readers, param) ? readers[param] : undefined
      const meant = Object.hasOwn(NEARLY, param) ? NEARLY[param] : undefined
      if (meant) throw badParameter({ param, expected: meant, received: value })
      if (!read) return
      if (seen.has(param)) throw badParameter({ param, expected: 'one field', received: value })
      seen.add(param)
      if (value === undefined)
        throw badParameter({ param, expected: `at most ${FIELD_MAX_BYTES / 1024} KiB`, received: 'more' })
      read(value)
    },
  }
}

/** Reads the value of `transforms`. @param received the original value, for the message @throws Problem 400 */
export function readTransforms(queries: unknown, received: unknown = queries): string[] {
  if (!Array.isArray(queries) || queries.length > TRANSFORMS_MAX)
    throw badParameter({ param: 'transforms', expected: EXPECTED_TRANSFORMS, received })
  return queries.map((query, i) => {
    if (typeof query === 'string' && query.length <= QUERY_MAX_LENGTH) return query.replace(/^\?/, '')
    const expected = `a query string of at most ${QUERY_MAX_LENGTH} characters`
    throw badParameter({ param: `transforms[${i}]`, expected, received: query })
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
