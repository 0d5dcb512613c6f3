import { z } from 'zod'
import { boundedItems } from '../../bounded-schemas.ts'
import { SIDE_MAX } from '../../geometry/output-limit.ts'
import { badParameter } from '../../problem.ts'
import { readDuration, shownDuration } from '../../text/duration.ts'
import { counted } from '../../text/plural.ts'
import { CACHING_RULES } from './caching.ts'
import { fetchDenyHostsRule, fetchHostsRule } from './hosts.ts'
import { presetsRule } from './presets.ts'
import { privateFoldersRule } from './private-folders.ts'
import { ratesRule } from './rates.ts'
import { choice, integerRule, isInteger, type Rule, switchRule } from './rule.ts'
import { uploadTypesRule } from './upload-types.ts'

/** The maximum of `variantLimit`, and of `VARIANT_LIMIT`. */
export const VARIANT_LIMIT_MAX = 1_000_000
// Each request looks up its width in the list.
const WIDTHS_MAX = 100
// 100,000 × 100,000.
const PIXELS_MAX = 10_000_000_000
// 90 days.
const KEEP_DELETED_MAX_SECONDS = 7_776_000

const allowedWidths: Rule<readonly number[], readonly number[]> = {
  flags: '--allowed-widths <px,px,…|any>',
  help: 'allowed widths; other widths are rounded up to the next one',
  docs: {
    example: '320,640,1280',
    effect:
      "A width that is not listed becomes the next larger one. A width above the largest becomes the largest. `dpr` is multiplied first, and the height keeps the requested aspect ratio. A preset's own width is not changed",
  },
  stored: z.array(z.int().min(1)).min(1),
  change: () => boundedItems(z.number()),
  expected: 'an array of integers or null',
  apply(received, { param }) {
    const widths = [...new Set(received)].sort((a, b) => a - b)
    const fits = widths.every((width) => isInteger(width, { min: 1, max: SIDE_MAX }))
    if (fits && widths.length > 0 && widths.length <= WIDTHS_MAX) return widths
    const expected = `1 to ${WIDTHS_MAX} integers from 1 to ${SIDE_MAX} px`
    throw badParameter({ param, expected, received })
  },
  parse(text) {
    if (text === 'any') return false
    if (/^\d{1,5}(,\d{1,5})*$/.test(text)) return text.split(',').map(Number)
    throw new Error(`expected widths in pixels like 320,640 or any but received "${text}"`)
  },
  shown: (widths) => `widths ${widths.join(', ')}`,
}

const dedupe: Rule<'reuse', 'reuse'> = {
  flags: '--dedupe <reuse|off>',
  help: 'reuse: an upload of an identical file returns the existing file',
  docs: {
    example: 'reuse',
    json: '(`"reuse"`)',
    effect: '[Duplicates](../how-to/manage-files.md#duplicates) are not stored again',
  },
  stored: z.literal('reuse'),
  change: () => z.literal('reuse'),
  expected: '"reuse" or null',
  apply: (mode) => mode,
  parse: (text) => choice(text, { reuse: 'reuse', off: false }),
  shown: () => 'identical files are reused',
}

/**
 * The rules of clients. Records, requests, commands and docs/reference/client-rules.md are derived from this table. A
 * new rule needs an entry here, and the code that applies it.
 */
export const CLIENT_RULES = {
  /** Files are delivered only by signed URLs. */
  signedUrls: switchRule({
    flags: '--signed-urls <on|off>',
    help: 'deliver files only by signed URLs',
    docs: {
      example: 'on',
      effect: 'Public URLs of its files must be [signed](../how-to/signed-delivery.md)',
    },
    shown: 'signed URLs only',
  }),
  /** Folders whose files are delivered only by signed URLs. At least one. */
  privateFolders: privateFoldersRule,
  /** `preset` is the only accepted parameter of delivery. */
  presetsOnly: switchRule({
    flags: '--presets-only <on|off>',
    help: 'accept no parameter except preset',
    docs: {
      example: 'on',
      effect:
        '`preset` is the only accepted parameter. Requests with any other return 403 (`presets_only`). `download` and ignored parameters work as before',
    },
    shown: 'presets only',
  }),
  /** In pixels, ascending, at least one. A width that is not listed becomes the next larger one. */
  allowedWidths,
  /** The maximum number of derivatives of an original. */
  variantLimit: integerRule({
    flags: '--variant-limit <count|default>',
    help: 'maximum number of derivatives of a file; default: VARIANT_LIMIT',
    docs: { example: '50', effect: 'Replaces `VARIANT_LIMIT`' },
    max: VARIANT_LIMIT_MAX,
    shown: (count) => `at most ${counted(count, 'derivative')} per file`,
  }),
  /** The maximum size of all derivatives of the client, in bytes. */
  derivativesMaxBytes: integerRule({
    flags: '--derivatives-max-bytes <bytes|default>',
    help: 'maximum size of all its derivatives; default: DERIVATIVES_MAX_BYTES',
    docs: { example: '5000000000', effect: 'Replaces `DERIVATIVES_MAX_BYTES`' },
    // The maximum of DERIVATIVES_MAX_BYTES: 15 digits.
    max: 999_999_999_999_999,
    unit: ' bytes',
    shown: (bytes) => `derivatives of at most ${counted(bytes, 'byte')}`,
  }),
  /**
   * Servers that remote files may come from, in the format of `namesHost`. An empty list allows no server. Absent: any
   * server for callers with a secret, no server for callers with only a URL.
   */
  fetchHosts: fetchHostsRule,
  /** Servers that remote files never come from, even when `fetchHosts` allows them. */
  fetchDenyHosts: fetchDenyHostsRule,
  /** Soft delete: how long deleted files can be restored, in seconds. Absent: files are deleted permanently at once. */
  keepDeletedSeconds: integerRule({
    flags: '--keep-deleted <time|off>',
    help: 'soft delete: how long deleted files can be restored',
    docs: {
      example: '30d',
      effect:
        '[Soft delete](../how-to/manage-files.md#soft-delete): how long deleted files can be restored, 90 days at most',
    },
    max: KEEP_DELETED_MAX_SECONDS,
    unit: ' seconds',
    parse(text) {
      if (text === 'off') return false
      const seconds = Math.ceil(readDuration(text) / 1000)
      if (isInteger(seconds, { min: 1, max: KEEP_DELETED_MAX_SECONDS })) return seconds
      throw new Error(`--keep-deleted must be from 1s to 90d, or off, received "${text}"`)
    },
    shown: (seconds) => `soft delete for ${shownDuration(seconds * 1000)}`,
  }),
  ...CACHING_RULES,
  /** An upload of a file that the same folder already has stores nothing, and returns the record of the existing file. */
  dedupe,
  /** The maximum size of an uploaded file, in bytes. */
  uploadMaxBytes: integerRule({
    flags: '--upload-max-bytes <bytes|default>',
    help: 'maximum size of a file; default: UPLOAD_MAX_BYTES',
    docs: { example: '10000000', effect: 'Largest upload of this client, below `UPLOAD_MAX_BYTES`' },
    max: ({ uploadMaxBytes }) => uploadMaxBytes,
    unit: ' bytes (UPLOAD_MAX_BYTES)',
    shown: (bytes) => `uploads of at most ${counted(bytes, 'byte')}`,
  }),
  /** Media groups and names of formats that may be uploaded. Absent: all. */
  uploadTypes: uploadTypesRule,
  /** The minimum of width × height of an uploaded image. */
  uploadMinPixels: integerRule({
    flags: '--upload-min-pixels <pixels|default>',
    help: 'minimum of width × height of an uploaded image; default: no minimum',
    docs: {
      example: '40000',
      effect:
        'Uploads of images with fewer pixels get a 422 (`image_size_not_allowed`), and so are images whose size cannot be read',
    },
    max: PIXELS_MAX,
    unit: ' pixels',
    shown: (pixels) => `images of at least ${counted(pixels, 'pixel')}`,
  }),
  /** The maximum of width × height of an uploaded image. */
  uploadMaxPixels: integerRule({
    flags: '--upload-max-pixels <pixels|default>',
    help: 'maximum of width × height of an uploaded image; default: no maximum',
    docs: { example: '50000000', effect: 'The same for images with more pixels' },
    max: PIXELS_MAX,
    unit: ' pixels',
    shown: (pixels) => `images of at most ${counted(pixels, 'pixel')}`,
  }),
  /** Uploaded images must be decodable, and the headers of video and audio readable. */
  uploadDecodable: switchRule({
    flags: '--upload-decodable <on|off>',
    help: 'accept only images that can be decoded, and video and audio whose headers can be read',
    docs: {
      example: 'on',
      effect:
        'Each uploaded image is decoded, and the headers of video and audio are read, within the [limits](limits.md) of transformations. Other images, video and audio get a 422 (`file_not_decodable`). Files of other types are not checked',
    },
    shown: 'only files that can be decoded',
  }),
  /** Points by the name of the rate limit. They replace the configured points; 0 means no limit. */
  rates: ratesRule,
  /** Presets for the files of the client. They take precedence over shared presets of the same name. */
  presets: presetsRule,
} satisfies Record<string, Rule<unknown, unknown>>

type Table = typeof CLIENT_RULES

export type RuleName = keyof Table

export const RULE_NAMES = Object.keys(CLIENT_RULES) as RuleName[]

/** What a client may do, and how its files may be transformed. The defaults apply for absent rules. */
export type ClientRules = { [N in RuleName]?: z.output<Table[N]['stored']> }

/** A change of rules by an operator. An absent rule stays unchanged, `false` removes it. */
export type RuleChanges = {
  [N in RuleName]?: z.output<ReturnType<Table[N]['change']>> | false | undefined
}
