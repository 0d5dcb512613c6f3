// The parts of which packed entries consist. `lua.ts` reads the same.

/** A number up to this one is one byte. A larger one is a byte with this number plus how many bytes follow, and these bytes. */
export const ONE_BYTE_MAX = 248

/** Packs an integer from 0 to 2^53 - 1. @throws RangeError for any other number */
export function packedNumber(number: number): Buffer {
  if (!Number.isSafeInteger(number) || number < 0)
    throw new RangeError(`expected an integer from 0 but received ${number}`)
  if (number <= ONE_BYTE_MAX) return Buffer.of(number)
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(number))
  const from = bytes.findIndex((byte) => byte > 0)
  return Buffer.concat([Buffer.of(ONE_BYTE_MAX + 8 - from), bytes.subarray(from)])
}

/** Packs a text in UTF-8, or bytes, with their number first. */
export function packedText(text: string | Uint8Array): Buffer {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return Buffer.concat([packedNumber(bytes.length), bytes])
}

/** Packs an instant: 8 bytes, since it may be fractional or negative. */
export function packedInstant(instant: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(instant)
  return bytes
}

/** Packs an integer from 0 to 2^53 - 2, or none. */
export function packedOptional(number: number | undefined): Buffer {
  return packedNumber(number === undefined ? 0 : number + 1)
}

const HEX = /^(?:[0-9a-f]{2})*$/

/** The bytes of a digest. Empty for a text that is not lower-case hexadecimal, as a bucket may have it. */
export function digestBytes(sha256: string): Buffer {
  return Buffer.from(HEX.test(sha256) ? sha256 : '', 'hex')
}

// The tags of most objects are these.
const MD5 = /^[0-9a-f]{32}$/

/** Packs the tag of an object, or none. A byte before it is 0 if the others are an MD5, or else 1. */
export function packedTag(tag: string | undefined): Buffer {
  if (tag === undefined) return packedText('')
  return packedText(MD5.test(tag) ? Buffer.from(`00${tag}`, 'hex') : `\x01${tag}`)
}

/** Reads the parts of an entry one by one. All methods but `rest` throw a RangeError when it is too short. */
export class Unpacker {
  private readonly content: Buffer
  private at = 0
  constructor(content: Buffer) {
    this.content = content
  }

  letter(): string {
    return String.fromCharCode(this.content.readUInt8(this.at++))
  }
  number(): number {
    const first = this.content.readUInt8(this.at++)
    if (first <= ONE_BYTE_MAX) return first
    let number = 0
    for (let left = first - ONE_BYTE_MAX; left > 0; left -= 1)
      number = number * 256 + this.content.readUInt8(this.at++)
    return number
  }
  text(encoding: 'utf8' | 'hex' = 'utf8'): string {
    const from = this.skip()
    return this.content.toString(encoding, from, this.at)
  }
  /** Skips a text, or so many bytes. @returns where they begin */
  skip(length = this.number()): number {
    const from = this.at
    this.at += length
    if (this.at > this.content.length) throw new RangeError(`expected ${this.at} bytes`)
    return from
  }
  tag(): string | undefined {
    const from = this.skip()
    if (from === this.at) return undefined
    return this.content.toString(this.content[from] === 0 ? 'hex' : 'utf8', from + 1, this.at)
  }
  instant(): number {
    this.at += 8
    return this.content.readDoubleBE(this.at - 8)
  }
  optional(): number | undefined {
    const number = this.number()
    return number === 0 ? undefined : number - 1
  }
  rest(): string {
    const from = this.at
    this.at = this.content.length
    return this.content.toString('utf8', from)
  }
  get isAtEnd(): boolean {
    return this.at >= this.content.length
  }
}

/** An entry of an original or a derivative that cannot be read: damage, or a defect. */
export class UnreadableEntry extends Error {}

// Of an entry, in the message of an error. The others are a JSON, which may have 16 KB.
const SHOWN_BYTES = 200

/** Unpacks the entry of a key. @throws UnreadableEntry that names the key, when it cannot be read */
export function unpacked<T>(key: string, content: Buffer, read: (from: Unpacker) => T | undefined): T {
  let cause: unknown
  try {
    const found = read(new Unpacker(content))
    if (found !== undefined) return found
  } catch (error) {
    cause = error
  }
  const shown = JSON.stringify(content.toString('latin1', 0, SHOWN_BYTES))
  throw new UnreadableEntry(`${key}: expected an entry of the index but found ${shown}`, { cause })
}

/** One of many entries. Undefined when it cannot be read: it must not stop those that read the others. */
export function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnreadableEntry) return undefined
    throw error
  }
}
