import { expect } from 'chai'
import fc from 'fast-check'
import {
  derivativeBody,
  derivativeEntry,
  derivativeNamed,
  nameIn,
  packedDerivative,
  scoreOf,
} from '../../../../../src/adapters/file-index/redis/entries/derivatives.ts'
import { ENTRIES } from '../../../../../src/adapters/file-index/redis/entries/lua.ts'
import {
  MEDIA_TYPES,
  USUAL_MEDIA_TYPES,
} from '../../../../../src/adapters/file-index/redis/entries/media-types.ts'
import {
  bodyOf,
  originalEntry,
  packedListed,
} from '../../../../../src/adapters/file-index/redis/entries/originals.ts'
import { packedNumber } from '../../../../../src/adapters/file-index/redis/entries/packed.ts'
import { joined, PIECE, PIECES } from '../../../../../src/adapters/file-index/redis/entries/pieces.ts'
import { connectRedis, type RedisConnection } from '../../../../../src/adapters/redis/connection.ts'
import { redisScript } from '../../../../../src/adapters/redis/script.ts'
import { sha256 } from '../../../../../src/core/bytes/digest.ts'
import { derivativeKey, storedKey } from '../../../../../src/core/files/object-key.ts'
import type { DerivativeRecord, OriginalRecord } from '../../../../../src/core/ports/file-index.ts'
import { holds } from '../../../../contracts/property.ts'
import { newKeyPrefix, sharedRedis } from '../../../../support/servers/redis-server.ts'

const keys = fc.constantFrom(
  ...['a/image/jpeg/7uLqEUXG4WpoGGa38h2U9Z.jpg', 'text/txt/7uLqEUXG4WpoGGa38h2U9Z.txt', 'x', 'a/b'].map(
    storedKey,
  ),
)
const sizes = fc.oneof(fc.nat(300), fc.maxSafeInteger().map(Math.abs), fc.constantFrom(248, 249, 2 ** 53 - 1))
const crcs = fc.option(fc.oneof(fc.constantFrom(0, 2 ** 32 - 1), fc.nat()), { nil: undefined })
const instants = fc.oneof(
  fc.constantFrom(1_800_000_000_000, 1_800_000_000_000.25, 0, -1),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((instant) => instant + 0),
)
const texts = fc.string({ unit: 'binary', maxLength: 90 })
const names = fc.oneof(
  texts,
  fc.constantFrom(
    '',
    '"quoted"\\',
    'a\nb\0c',
    'Äöü.JPG',
    '😀.png',
    'n'.repeat(255),
    '"size":7',
    'half \ud800',
  ),
)
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => Buffer.from(all).toString('hex'))
const tags = fc.oneof(hex(16), fc.constantFrom('1a-2b-3c', `${'ab'.repeat(16)}-2`), texts)

const records = fc
  .record(
    {
      key: keys,
      originalName: names,
      mediaType: fc.constantFrom('image/jpeg', 'text/plain', 'text/plain; charset=utf-8'),
      size: sizes,
      sha256: fc.oneof(hex(32), fc.constantFrom('00', 'ABC', '')),
      storedAt: instants,
      crc32: crcs,
      tags: fc.array(texts, { minLength: 1, maxLength: 3 }),
      metadata: fc.dictionary(texts, texts, { noNullPrototype: true }),
      focalPoint: fc.record({ x: fc.double({ min: 0, max: 1 }), y: fc.constant(0.1) }),
      truncated: fc.constant(true as const),
      probe: texts,
    },
    { requiredKeys: ['key', 'originalName', 'mediaType', 'size', 'sha256', 'storedAt'] },
  )
  .map((record) => JSON.parse(JSON.stringify(record)) as OriginalRecord)

const listed = fc
  .record({
    record: records,
    recordTag: fc.option(tags, { nil: undefined }),
    at: instants,
    until: instants,
    isTrashed: fc.boolean(),
  })
  .map(({ record, recordTag, at, until, isTrashed }) => {
    const parts = { record, ...(recordTag === undefined ? {} : { recordTag }) }
    const entry = isTrashed
      ? ({ state: 'trashed', ...parts, trash: { at, until } } as const)
      : ({ state: 'stored', ...parts } as const)
    return entry
  })

describe('packed entries', () => {
  let redis: RedisConnection
  before(async () => {
    redis = connectRedis({ url: (await sharedRedis()).url })
    await redis.ready()
  })
  after(() => redis.close())

  /** Runs a script with the functions of entries. */
  const inLua = (lua: string) => {
    const script = redisScript(ENTRIES + lua, { replies: 'bytes' })
    return (args: ReadonlyArray<string | number | Buffer>, names: readonly string[] = []) =>
      script(redis, names, args) as Promise<Buffer[]>
  }
  const latin1 = (all: readonly Buffer[]) => all.map((one) => one.toString('latin1'))
  const asLatin1 = (text: string) => Buffer.from(text).toString('latin1')
  const exact = (number: number) => number.toString()

  it('of stored and trashed originals have the whole record, and scripts read the same', async () => {
    const read = inLua(`
local entry, record = ARGV[1], record_in(ARGV[1])
local function exact(number) return string.format('%.17g', number) end
return { state_of(entry), exact(record.at), record.digest, string.format('%.0f', record.size), record.name, record.rest, body_of(entry), state_of(entry) == 'trashed' and exact(instant_of(entry)) or '' }`)
    await holds(
      fc.asyncProperty(listed, async (entry) => {
        const { record } = entry
        const bytes = packedListed(entry)
        expect(originalEntry(record.key, bytes)).to.deep.equal(entry)
        const [state = '', at = '', digest, size, name, rest = '', ...others] = latin1(await read([bytes]))
        expect({ state, at: Number(at), digest, size, name }).to.deep.equal({
          ...{ state: entry.state, at: record.storedAt, size: exact(record.size) },
          digest: /^([0-9a-f]{2})*$/.test(record.sha256)
            ? Buffer.from(record.sha256, 'hex').toString('latin1')
            : '',
          name: asLatin1(record.originalName),
        })
        const known = rest === '' ? {} : JSON.parse(Buffer.from(rest, 'latin1').toString())
        expect(known.tags).to.deep.equal(record.tags)
        const until = entry.state === 'trashed' ? entry.trash.until : ''
        const [body, instant = ''] = others
        expect([body, instant && Number(instant)]).to.deep.equal([bodyOf(record).toString('latin1'), until])
      }),
    )
  })

  it('of equal records are equal, whatever the order of their members is', async () => {
    await holds(
      fc.property(listed, (entry) => {
        const reversed = (of: object) => Object.fromEntries(Object.entries(of).reverse())
        const { metadata } = entry.record
        const record = {
          ...reversed(entry.record),
          ...(metadata ? { metadata: reversed(metadata) } : {}),
        } as OriginalRecord
        expect(packedListed({ ...entry, record })).to.deep.equal(packedListed(entry))
      }),
    )
  })

  // Stored entries have these bytes, and a step compares them with those of the records that were read from them.
  it('have the bytes of the layout', () => {
    const key = storedKey('a/image/jpeg/7uLqEUXG4WpoGGa38h2U9Z.jpg')
    const file = { originalName: 'Sea.jpg', mediaType: 'image/jpeg', size: 1234, sha256: 'ab'.repeat(32) }
    const record = { key, ...file, crc32: 5, storedAt: 1_800_000_000_000 }
    const body = `427a3185c5000000${'20'}${'ab'.repeat(32)}06fa04d2${'07'}5365612e6a7067`
    const tag = 'cd'.repeat(16)
    const other = { ...record, mediaType: 'image/x', tags: ['é'], metadata: { b: '1', a: '2' } }
    const json = '{"mediaType":"image/x","metadata":{"a":"2","b":"1"},"tags":["é"]}'
    const trash = { at: 1, until: 2 }
    const derivative = { key: derivativeKey(key, 'w=1'), mediaType: 'image/webp', size: 7, crc32: 0 }
    const smaller = { key: derivativeKey(key, `~${'01'.repeat(16)}`), since: 1 }
    const use = { at: 3, isHeld: false }
    expect(
      [
        packedListed({ state: 'stored', record, recordTag: tag }),
        packedListed({ state: 'trashed', record: other, trash }),
        packedDerivative(key, derivative, use),
        packedDerivative(key, { ...derivative, mediaType: 'x/y', smaller }),
      ].map((bytes) => bytes.toString('hex')),
    ).to.deep.equal([
      `731100${tag}${body}`,
      `7440000000000000003ff000000000000000${body}${Buffer.from(json).toString('hex')}`,
      '73000000000000037701' + '07',
      `73000000000000002d0107${'03782f79'}00${'18'}5f01${Buffer.from('AQEBAQEBAQEBAQEBAQEBAQ').toString('hex')}3ff0000000000000`,
    ])
    const tables = JSON.stringify([MEDIA_TYPES, ...USUAL_MEDIA_TYPES])
    expect(sha256(tables).slice(0, 8), 'a change of these tables needs a new LAYOUT').to.equal('c1d07118')
  })

  it('of uploads and deletes in progress have the instant', async () => {
    const write = inLua(`
local all = { pending(ARGV[1]), going(ARGV[1]), GONE }
for i = 1, 2 do all[3 + i] = string.format('%.17g', instant_of(all[i])) end
return all`)
    const key = storedKey('x')
    await holds(
      fc.asyncProperty(instants, async (instant) => {
        const [begun, going, gone, ...read] = (await write([instant])) as [Buffer, Buffer, Buffer]
        expect([begun, going, gone].map((bytes) => originalEntry(key, bytes))).to.deep.equal([
          { state: 'pending', leaseUntil: instant },
          { state: 'going', leaseUntil: instant },
          { state: 'gone' },
        ])
        expect(read.map(Number)).to.deep.equal([instant, instant])
      }),
    )
  })

  it('change their state and their tag in scripts as here', async () => {
    const change = inLua(`
return { stored(body_of(ARGV[1])), trashed(ARGV[3], ARGV[4], body_of(ARGV[1])), retagged(ARGV[1], ARGV[2]) }`)
    await holds(
      fc.asyncProperty(listed, listed, instants, instants, async (entry, other, until, at) => {
        const { record } = entry
        const found = await change([packedListed(entry), packedListed(other), until, at])
        const { recordTag: _, ...untagged } = entry
        const tag = other.recordTag === undefined ? {} : { recordTag: other.recordTag }
        expect(found).to.deep.equal([
          packedListed({ state: 'stored', record }),
          packedListed({ state: 'trashed', record, trash: { at, until } }),
          packedListed({ ...untagged, ...tag }),
        ])
      }),
    )
  })

  it('are in pieces of a hash, and a shorter one leaves none of the longer one', async () => {
    const keyPrefix = newKeyPrefix()
    const write = inLua(`
write_entry(KEYS[1], ARGV[1])
return { read_entry(KEYS[1]) }`)
    const [most, name] = [PIECE * PIECES.length, `${keyPrefix}hash`]
    for (const length of [most + 5, most, 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 1]) {
      const bytes = Buffer.from(Array.from({ length }, (_, i) => i % 256))
      expect(await write([bytes], [name])).to.deep.equal([bytes])
      const pieces = await redis.client.hmgetBuffer(name, ...PIECES)
      expect(joined(pieces)).to.deep.equal(bytes)
      expect(
        pieces
          .map((piece) => piece?.length)
          .slice(0, -1)
          .every((size) => Number(size) <= PIECE),
      ).to.equal(true)
    }
    await redis.client.del(name)
  })

  it('of derivatives have the record and the last use, and scripts read the same', async () => {
    const of = derivativeKey(storedKey('a/image/jpeg/7uLqEUXG4WpoGGa38h2U9Z.jpg'), '').slice(0, -1)
    const original = storedKey(of)
    const variants = fc.constantFrom(
      'w=300',
      `~${'0'.repeat(32)}`,
      `~${'9f'.repeat(16)}&~12345678`,
      'hls/master.m3u8',
      'ü=😀',
    )
    const derivatives: fc.Arbitrary<DerivativeRecord> = fc
      .record(
        {
          variant: variants,
          mediaType: fc.constantFrom('image/jpeg', 'application/vnd.apple.mpegurl', 'x/other', ''),
          size: sizes,
          crc32: fc.nat(),
          partsBytes: fc.nat(),
          smaller: fc.record({
            key: variants.map((variant) => derivativeKey(original, variant)),
            since: instants,
          }),
        },
        { requiredKeys: ['variant', 'mediaType', 'size'] },
      )
      .map(({ variant, ...record }) => ({ key: derivativeKey(original, variant), ...record }))
    const uses = fc.record({ at: fc.nat(2 ** 43), isHeld: fc.boolean() })
    const read = inLua(`
local entry = ARGV[1]
return { state_of(entry), string.format('%.0f', use_of(entry)), string.format('%.17g', bytes_of(entry)), derivative_body(entry),
  stored_derivative(ARGV[2], derivative_body(entry)), pending(ARGV[3]) }`)
    await holds(
      fc.asyncProperty(derivatives, uses, uses, instants, async (record, use, later, deadline) => {
        const bytes = packedDerivative(original, record, use)
        expect(derivativeEntry(original, record.key, bytes)).to.deep.equal({ state: 'stored', record })
        const [state, score, sum, body, used, begun] = await read([bytes, scoreOf(later), deadline])
        expect([state, score, sum].map(String)).to.deep.equal([
          'stored',
          ...[scoreOf(use), record.size + (record.partsBytes ?? 0)].map(exact),
        ])
        expect([body, used]).to.deep.equal([
          derivativeBody(original, record),
          packedDerivative(original, record, later),
        ])
        expect(derivativeEntry(original, record.key, begun as Buffer)).to.deep.equal({
          state: 'pending',
          deadline,
        })
      }),
    )
  })

  it('that cannot be read are an error with the key and their bytes', () => {
    const key = storedKey('image/png/7uLqEUXG4WpoGGa38h2U9Z.png')
    const record: OriginalRecord = {
      key,
      originalName: 'a',
      mediaType: 'image/png',
      size: 1,
      sha256: '00',
      storedAt: 1,
    }
    const whole = packedListed({ state: 'stored', record })
    for (const bytes of [
      whole.subarray(0, -1),
      whole.subarray(0, 9),
      Buffer.from('p1'),
      Buffer.from('?'),
      Buffer.of(),
    ])
      expect(() => originalEntry(key, bytes)).to.throw(
        `${key}: expected an entry of the index but found ${JSON.stringify(bytes.toString('latin1'))}`,
      )
    const derivative = packedDerivative(key, {
      key: derivativeKey(key, 'w=1'),
      mediaType: 'image/png',
      size: 1,
    })
    const unknown = Buffer.from(derivative)
    unknown.write('?', 8)
    for (const bytes of [derivative.subarray(0, -1), unknown, Buffer.from('x'), Buffer.of()])
      expect(() => derivativeEntry(key, derivativeKey(key, 'w=1'), bytes)).to.throw(
        JSON.stringify(bytes.toString('latin1')),
      )
  })

  it('refuse a number that they cannot have', () => {
    for (const number of [1.5, -1, 2 ** 53]) expect(() => packedNumber(number)).to.throw(RangeError)
  })

  it('of derivatives with a hash in their name are under a shorter name', () => {
    const original = storedKey('a/image/jpeg/7uLqEUXG4WpoGGa38h2U9Z.jpg')
    const name = fc.tuple(hex(16), fc.constantFrom('', '&~12345678', '&~private'))
    fc.assert(
      fc.property(name, ([hash, end]) => {
        const key = derivativeKey(original, `~${hash}${end}`)
        expect(nameIn(original, key)).to.have.length(24 + end.length)
        expect(derivativeNamed(original, nameIn(original, key))).to.equal(key)
      }),
    )
    for (const variant of ['w=300', '~abc', `x~${'0'.repeat(32)}`]) {
      const key = derivativeKey(original, variant)
      expect(nameIn(original, key)).to.equal(`_${variant}`)
      expect(derivativeNamed(original, `_${variant}`)).to.equal(key)
    }
  })
})
