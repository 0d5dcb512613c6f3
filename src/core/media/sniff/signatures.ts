import { type Format, knownFormat } from '../formats.ts'

/**
 * Bytes at an offset, or a condition on the first bytes. All parts together must be nearly certain: a short magic
 * number is not enough.
 */
type Signature = readonly [format: string, ...parts: Part[]]
type Part = readonly [at: number, bytes: string] | ((head: Uint8Array) => boolean)

const ascii = (at: number, text: string): Part => [at, Buffer.from(text, 'latin1').toString('hex')]
const matches =
  (pattern: RegExp): Part =>
  (head) =>
    pattern.test(Buffer.from(head.subarray(0, 256)).toString('latin1'))
const oneOf =
  (at: number, ...values: number[]): Part =>
  (head) =>
    values.includes(head[at] ?? -1)

// White space as netpbm defines it, including comments to the end of a line.
const GAP = '(?:\\s|#[^\\n]*\\n)+'
const sides = (mark: string, numbers: number) => new RegExp(`^${mark}${`${GAP}\\d+`.repeat(numbers)}\\s`)

// Formats that file-type does not detect.
const SIGNATURES: readonly Signature[] = [
  [
    'pcx',
    [0, '0a'],
    oneOf(1, 0, 2, 3, 4, 5),
    [2, '01'],
    oneOf(3, 1, 2, 4, 8),
    [64, '00'],
    oneOf(65, 1, 3, 4),
  ],
  // Olympus and Panasonic have TIFFs with signatures of their own. file-type knows those of some cameras.
  ['orf', ascii(0, 'IIRO'), [4, '08000000']],
  ['orf', ascii(0, 'IIRS'), [4, '08000000']],
  ['orf', ascii(0, 'MMOR'), [4, '00000008']],
  ['rw2', ascii(0, 'IIU\0'), oneOf(4, 8, 24), [5, '000000']],
  ['dcx', [0, 'b168de3a']],
  ['dds', ascii(0, 'DDS '), [4, '7c000000']],
  ['pbm', matches(sides('P4', 2))],
  ['pgm', matches(sides('P5', 3))],
  ['ppm', matches(sides('P6', 3))],
  ['pam', matches(/^P7\n(?:#[^\n]*\n)*(?:WIDTH|HEIGHT|DEPTH|MAXVAL|TUPLTYPE) /)],
  ['pfm', matches(/^P[Ff]\s\d+\s\d+\s-?\d+(?:\.\d+)?\s/)],
  ['hdr', matches(/^#\?(?:RADIANCE|RGBE)\n/)],
  ['exr', [0, '762f3101'], [4, '02']],
  ['fits', matches(/^SIMPLE {2}= {20}T/)],
  ['dpx', ascii(0, 'SDPX'), matches(/^.{8}V[12]\.0/s)],
  ['dpx', ascii(0, 'XPDS'), matches(/^.{8}V[12]\.0/s)],
  ['jng', [0, '8b4a4e470d0a1a0a']],
  ['ras', [0, '59a66a95'], [20, '000000']],
  ['sgi', [0, '01da'], oneOf(2, 0, 1), oneOf(3, 1, 2), [4, '00'], oneOf(5, 1, 2, 3)],
  ['xwd', [0, '0000'], [4, '00000007000000'], oneOf(11, 0, 1, 2), [12, '000000']],
  ['miff', ascii(0, 'id=ImageMagick')],
  ['vicar', matches(/^LBLSIZE=\d+ /)],
  ['qoi', ascii(0, 'qoif'), oneOf(12, 3, 4), oneOf(13, 0, 1)],
  ['ktx2', [0, 'ab4b5458203230bb0d0a1a0a']],
  ['djvu', ascii(0, 'AT&TFORM'), ascii(12, 'DJV')],
  ['emf', [0, '01000000'], ascii(40, ' EMF')],
  ['wmf', [0, 'd7cdc69a0000']],
  ['mng', [0, '8a4d4e470d0a1a0a']],
  ['nut', ascii(0, 'nut/multimedia container\0')],
  ['au', ascii(0, '.snd'), [4, '0000'], [12, '000000']],
  ['caf', ascii(0, 'caff'), [4, '0001']],
  ['w64', [0, '726966662e91cf11a5d628db04c10000']],
  ['tta', ascii(0, 'TTA1'), oneOf(5, 0), oneOf(7, 0)],
  ['dts', [0, '7ffe8001']],
  ['adx', [0, '8000'], hasAdxMark],
  ['xar', ascii(0, 'xar!'), [4, '001c']],
  ['lzma', [0, '5d0000'], [4, '00ffffffffffffffff']],
  ['h5', [0, '894844460d0a1a0a']],
  ['npy', [0, '934e554d5059']],
  ['mdb', [0, '00010000'], matches(/^.{4}Standard (?:Jet|ACE) DB\0/s)],
  ['mpq', ascii(0, 'MPQ\x1a'), [4, '20000000']],
]

/** Finds the format with this signature; undefined when none matches. @param head the first 256 bytes, or more */
export function formatBySign(head: Uint8Array): Format | undefined {
  const found = SIGNATURES.find(([, ...parts]) => parts.every((part) => fits(part, head)))
  return found && knownFormat(found[0])
}

function fits(part: Part, head: Uint8Array): boolean {
  if (typeof part === 'function') return part(head)
  const [at, bytes] = part
  return Buffer.from(head.subarray(at, at + bytes.length / 2)).toString('hex') === bytes
}

/** CRI's mark is directly before the offset at which the audio begins according to the header. */
function hasAdxMark(head: Uint8Array): boolean {
  const start = 256 * (head[2] ?? 0) + (head[3] ?? 0)
  return Buffer.from(head.subarray(start - 2, start + 4)).toString('latin1') === '(c)CRI'
}
