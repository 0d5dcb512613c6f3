import { expect } from 'chai'
import { centralDirectory, dataDescriptor, isLarge, localHeader } from '../../src/core/zip-format.ts'

const MAX = 0xffffffff
const modifiedAt = new Date('2026-03-04T05:06:07Z')
const entry = { name: Buffer.from('größe.bin'), modifiedAt, deflated: false, large: false }

/** The extra fields of a header by their ids. */
function extras(bytes: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>()
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt16LE(at + 2)
    fields.set(bytes.readUInt16LE(at), bytes.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return fields
}

function readLocal(bytes: Buffer) {
  const nameEnd = 30 + bytes.readUInt16LE(26)
  expect(bytes).to.have.length(nameEnd + bytes.readUInt16LE(28))
  return {
    signature: bytes.readUInt32LE(0),
    version: bytes.readUInt16LE(4),
    flags: bytes.readUInt16LE(6),
    method: bytes.readUInt16LE(8),
    time: bytes.readUInt16LE(10),
    date: bytes.readUInt16LE(12),
    checksum: bytes.readUInt32LE(14),
    packed: bytes.readUInt32LE(18),
    size: bytes.readUInt32LE(22),
    name: bytes.subarray(30, nameEnd).toString(),
    extra: extras(bytes.subarray(nameEnd)),
  }
}

function readCentral(bytes: Buffer) {
  const nameEnd = 46 + bytes.readUInt16LE(28)
  const end = nameEnd + bytes.readUInt16LE(30)
  return {
    version: bytes.readUInt16LE(6),
    packed: bytes.readUInt32LE(20),
    size: bytes.readUInt32LE(24),
    attributes: bytes.readUInt32LE(38),
    offset: bytes.readUInt32LE(42),
    extra: extras(bytes.subarray(nameEnd, end)),
    rest: bytes.subarray(end),
  }
}

const bigints = (bytes: Buffer | undefined) =>
  Array.from({ length: (bytes?.length ?? 0) / 8 }, (_, i) => Number(bytes?.readBigUInt64LE(8 * i)))

describe('the records of a ZIP archive', () => {
  it('say before the bytes what is known by then', () => {
    const known = { checksum: 0xdeadbeef, packed: 5, size: 7 }
    const header = readLocal(localHeader({ ...entry, deflated: true, known }))
    expect(header).to.deep.include({
      signature: 0x04034b50,
      version: 20,
      flags: 1 << 11,
      method: 8,
      ...known,
    })
    expect(header.name).to.equal('größe.bin')
    expect(header.date).to.equal(((2026 - 1980) << 9) | (3 << 5) | 4)
    expect(header.time).to.equal((5 << 11) | (6 << 5) | 3)
    expect([...header.extra.keys()]).to.deep.equal([0x5455])
    const time = header.extra.get(0x5455)
    expect([time?.[0], time?.readUInt32LE(1)]).to.deep.equal([1, modifiedAt.getTime() / 1000])
  })

  it('promise the rest behind the bytes, in as many bytes as the header says', () => {
    const sums = { checksum: 1, packed: 2, size: 3 }
    const small = readLocal(localHeader(entry))
    expect(small).to.include({ flags: (1 << 11) | (1 << 3), checksum: 0, packed: 0, size: 0, version: 20 })
    expect(small.extra.has(1)).to.equal(false)
    expect(dataDescriptor(entry, sums).toString('hex')).to.equal('504b0708010000000200000003000000')

    const large = readLocal(localHeader({ ...entry, large: true }))
    expect(large).to.include({
      flags: (1 << 11) | (1 << 3),
      checksum: 0,
      packed: MAX,
      size: MAX,
      version: 45,
    })
    expect(bigints(large.extra.get(1))).to.deep.equal([0, 0])
    const many = { checksum: 1, packed: 2 ** 33, size: 2 ** 34 }
    expect(dataDescriptor({ ...entry, large: true }, many).toString('hex')).to.equal(
      '504b07080100000000000000020000000000000004000000',
    )
  })

  it('take a file for large before it is, by what deflating may add', () => {
    expect(isLarge(4_200_000_000)).to.equal(false)
    for (const size of [MAX - 1024 * 1024, MAX - 1, MAX, MAX + 1])
      expect(isLarge(size), `${size}`).to.equal(true)
  })

  for (const [what, values, large] of [
    ['the largest that 4 bytes can say', { packed: MAX - 1, size: MAX - 1, offset: MAX - 1 }, false],
    ['a size that means another', { packed: 1, size: MAX, offset: 1 }, true],
    ['a packed size that means another', { packed: MAX, size: 1, offset: 1 }, true],
    ['an offset that means another', { packed: 1, size: 2, offset: MAX }, true],
    ['larger ones', { packed: 2 ** 32, size: 2 ** 33, offset: 2 ** 34 }, true],
  ] as const) {
    it(`list an entry with ${what}`, () => {
      const header = readCentral(centralDirectory([{ ...entry, checksum: 1, ...values }], 100))
      const { packed, size, offset } = values
      expect(header).to.include(
        large ? { packed: MAX, size: MAX, offset: MAX, version: 45 } : { packed, size, offset, version: 20 },
      )
      expect(bigints(header.extra.get(1))).to.deep.equal(large ? [size, packed, offset] : [])
      expect(header.attributes >>> 16).to.equal(0o100644)
    })
  }

  for (const [what, offset, large] of [
    ['the largest offset that 4 bytes can say', MAX - 1, false],
    ['one that means another', MAX, true],
    ['a larger one', 2 ** 40 + 5, true],
  ] as const) {
    it(`end with ${what}`, () => {
      const end = centralDirectory([], offset)
      const classic = end.subarray(end.length - 22)
      expect(classic.readUInt32LE(0)).to.equal(0x06054b50)
      expect(classic.readUInt32LE(16)).to.equal(large ? MAX : offset)
      if (!large) return expect(end).to.have.length(22)
      expect(end).to.have.length(56 + 20 + 22)
      expect(end.readUInt32LE(0)).to.equal(0x06064b50)
      expect(end.readBigUInt64LE(48)).to.equal(BigInt(offset))
      expect(end.readUInt32LE(56)).to.equal(0x07064b50)
      // Where the record before it begins.
      expect(end.readBigUInt64LE(64)).to.equal(BigInt(offset))
    })
  }

  it('end with the number of 65,535 entries in the larger record', () => {
    const many = Array(65_535).fill({ ...entry, checksum: 1, packed: 1, size: 1, offset: 0 })
    const end = centralDirectory(many, 5)
    expect(end.readUInt16LE(end.length - 12)).to.equal(0xffff)
    expect(end.readBigUInt64LE(end.length - 98 + 24)).to.equal(65_535n)
    const fewer = centralDirectory(many.slice(1), 5)
    expect(fewer.readUInt16LE(fewer.length - 12)).to.equal(65_534)
    expect(fewer.readUInt32LE(fewer.length - 98)).not.to.equal(0x06064b50)
  })

  for (const [date, year, seconds] of [
    ['1960-01-01T00:00:00Z', 1980, 0],
    ['2200-01-01T00:00:00Z', 2107, 0x7fffffff],
  ] as const) {
    it(`hold the nearest date to ${date}`, () => {
      const header = readLocal(localHeader({ ...entry, modifiedAt: new Date(date) }))
      expect((header.date >> 9) + 1980).to.equal(year)
      expect(header.extra.get(0x5455)?.readUInt32LE(1)).to.equal(seconds)
    })
  }
})
