/** An MP4 of 1 KB whose tracks declare this number of samples of one byte: libavformat allocates 24 bytes for each. */
export function boastingMovie({ samples, tracks }: { samples: number; tracks: number }): Buffer {
  const header = full(
    'mvhd',
    words(0, 0, 1000, 1000, 0x10000, 0x1000000, 0, 0),
    IDENTITY,
    zeros(24),
    words(3),
  )
  const all = Array.from({ length: tracks }, (_, i) => track(i + 1, samples))
  return Buffer.concat([
    box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2mp41', 'latin1')),
    box('mdat', zeros(64)),
    box('moov', header, ...all),
  ])
}

const words = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i)
  return bytes
}
const zeros = (length: number) => Buffer.alloc(length)
const IDENTITY = words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

function box(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([words(8 + body.length), Buffer.from(type, 'latin1'), body])
}

/** A box with a version and flags: both 0. */
const full = (type: string, ...content: Buffer[]) => box(type, words(0), ...content)

function track(id: number, samples: number): Buffer {
  const picture = Buffer.concat([
    ...[zeros(6), Buffer.from([0, 1]), zeros(16), Buffer.from([0, 64, 0, 64])],
    ...[words(0x480000, 0x480000), zeros(4), Buffer.from([0, 1]), zeros(32), Buffer.from([0, 24, 255, 255])],
  ])
  const table = box(
    'stbl',
    full('stsd', words(1), box('avc1', picture)),
    full('stts', words(1, samples, 1)),
    full('stsc', words(1, 1, samples, 1)),
    full('stsz', words(1, samples)),
    full('stco', words(1, 40)),
  )
  const source = box('dinf', full('dref', words(1), full('url ')))
  return box(
    'trak',
    full('tkhd', words(0, 0, id, 0, 1000), zeros(16), IDENTITY, words(64 << 16, 64 << 16)),
    box(
      'mdia',
      full('mdhd', words(0, 0, 1000, samples, 0x55c40000)),
      full('hdlr', words(0), Buffer.from('vide'), zeros(12), Buffer.from('v\0')),
      box('minf', full('vmhd', zeros(8)), source, table),
    ),
  )
}
