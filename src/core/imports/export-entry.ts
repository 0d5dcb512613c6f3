import { z } from 'zod'
import { type Annotations, checkMetadata, checkTags } from '../files/annotations.ts'
import { badParameter } from '../problem.ts'

/** One file in an export of another service. */
export interface ExportEntry {
  /** Not validated yet. */
  url: string
  /** Without slashes at its ends; empty for no folder. Not validated yet. */
  folder: string
  /** Empty when the export has no name: then the remote server decides. */
  name: string
  annotations: Annotations
}

const text = z.string().nullish()
const texts = z.array(z.string()).nullish()
const anything = z.record(z.string(), z.unknown()).nullish()

const cloudinary = z.object({
  secure_url: z.string(),
  public_id: z.string(),
  format: text,
  folder: text,
  asset_folder: text,
  display_name: text,
  original_filename: text,
  tags: texts,
  context: anything,
})

const uploadcare = z.object({
  original_file_url: z.string(),
  original_filename: text,
  filename: text,
  tags: texts,
  metadata: anything,
})

const general = z.object({
  url: z.string(),
  folder: text,
  name: text,
  tags: texts.or(z.string()),
  metadata: anything.or(z.string()),
})

/**
 * Reads an entry of an export: of Cloudinary (`resources` of the Admin API), of Uploadcare (`results` of its REST API), or
 * of the general form with `url`, `folder`, `name`, `tags` and `metadata`.
 *
 * @throws Problem 400 for an entry without a URL, and for tags or metadata that no file may have
 */
export function exportEntry(entry: unknown): ExportEntry {
  const known = typeof entry === 'object' && entry !== null ? entry : {}
  if ('secure_url' in known) return ofCloudinary(parsed(cloudinary, known))
  if ('original_file_url' in known) return ofUploadcare(parsed(uploadcare, known))
  return ofGeneral(parsed(general, known))
}

function ofCloudinary(entry: z.infer<typeof cloudinary>): ExportEntry {
  const { secure_url: url, public_id: id, format, tags, context } = entry
  const slash = id.lastIndexOf('/')
  const name = entry.original_filename || entry.display_name || id.slice(slash + 1)
  const ending = format && !name.toLowerCase().endsWith(`.${format.toLowerCase()}`) ? `.${format}` : ''
  const custom = context?.custom
  const pairs = typeof custom === 'object' && custom !== null ? (custom as Record<string, unknown>) : context
  return {
    url,
    folder: trimmed(entry.asset_folder ?? entry.folder ?? id.slice(0, Math.max(slash, 0))),
    name: `${name}${ending}`,
    annotations: annotationsOf(tags, pairs),
  }
}

function ofUploadcare({ original_file_url: url, tags, metadata, ...named }: z.infer<typeof uploadcare>) {
  const name = named.original_filename || named.filename || ''
  return { url, folder: '', name, annotations: annotationsOf(tags, metadata) }
}

function ofGeneral({ url, folder, name, tags, metadata }: z.infer<typeof general>): ExportEntry {
  const pairs = typeof metadata === 'string' ? jsonObject(metadata) : metadata
  return {
    url,
    folder: trimmed(folder ?? ''),
    name: name ?? '',
    annotations: annotationsOf(typeof tags === 'string' ? splitTags(tags) : tags, pairs),
  }
}

/** The tags of an option or a CSV cell, separated by commas, semicolons or vertical bars. */
export function splitTags(tags: string): string[] {
  return tags
    .split(/[,;|]/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
}

function annotationsOf(
  tags: readonly string[] | null | undefined,
  pairs: Readonly<Record<string, unknown>> | null | undefined,
): Annotations {
  const named = Object.entries(pairs ?? {}).filter(([, value]) => value !== null && value !== undefined)
  return {
    tags: checkTags([...(tags ?? [])]),
    metadata: checkMetadata(
      Object.fromEntries(named.map(([name, value]) => [metadataName(name), textOf(value)])),
    ),
  }
}

/** Other services accept any text as a name, for example "alt text". */
function metadataName(name: string): string {
  return name.replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 64)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function trimmed(folder: string): string {
  return folder.replace(/^\/+|\/+$/g, '')
}

function jsonObject(cell: string): Record<string, unknown> {
  if (cell.trim() === '') return {}
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(cell))
  } catch {
    throw badParameter({ param: 'metadata', expected: 'a JSON object', received: cell })
  }
}

function parsed<T>(schema: z.ZodType<T>, entry: object): T {
  const result = schema.safeParse(entry)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const param = issue?.path.join('.') || 'url'
  throw badParameter({ param, expected: `a valid ${param} (${issue?.message})`, received: undefined })
}
